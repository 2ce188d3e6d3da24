"""`create_file`: writes a text file."""

from collections.abc import Mapping
from typing import Any

from backend.domain.model.parameters import Parameters
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _File(Parameters):
    path: str
    content: str = ""


@register(PluginKind.SETUP, "create_file")
class CreateFile:
    """`path`, `content` (UTF-8). The folder is made if need be."""

    def check(self, parameters: Mapping[str, Any]) -> None:
        _File.parse(parameters)

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:
        file = _File.parse(parameters)
        context.desktop.write_file(file.path, file.content.encode())
