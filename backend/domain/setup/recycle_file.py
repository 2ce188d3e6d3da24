"""`recycle_file`: moves a file to the recycle bin."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from backend.domain.model.parameters import Parameters
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _File(Parameters):
    path: str = Field(min_length=1)


@register(PluginKind.SETUP, "recycle_file")
class RecycleFile:
    """`path` of a file or folder of the desktop. A missing path is an error."""

    def check(self, parameters: Mapping[str, Any]) -> None:
        _File.parse(parameters)

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:
        context.desktop.call("POST", "/setup/recycle", {"path": _File.parse(parameters).path})
