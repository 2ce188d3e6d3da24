"""`close_all`: closes every window."""

from collections.abc import Mapping
from typing import Any

from backend.domain.model.parameters import Parameters
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _Nothing(Parameters):
    """It takes no parameter."""


@register(PluginKind.SETUP, "close_all")
class CloseAll:
    """No parameters. Returns when no window is left; the application of one that stays is ended."""

    def check(self, parameters: Mapping[str, Any]) -> None:
        _Nothing.parse(parameters)

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:
        _Nothing.parse(parameters)
        context.desktop.call("POST", "/setup/close_all", {})
