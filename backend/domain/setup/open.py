"""`open`: opens a file with its default application."""

from collections.abc import Mapping
from typing import Any

from backend.domain.model.parameters import Parameters
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _Open(Parameters):
    path: str


@register(PluginKind.SETUP, "open")
class Open:
    """`path`: a file of the desktop. Returns when its window is there."""

    def check(self, parameters: Mapping[str, Any]) -> None:
        _Open.parse(parameters)

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:
        context.desktop.open_file(_Open.parse(parameters).path)
