"""`upload_file`: the same as `download` for files of the task set."""

from collections.abc import Mapping
from typing import Any

from backend.domain.model.parameters import Parameters
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _File(Parameters):
    local_path: str
    path: str


class _Upload(Parameters):
    files: tuple[_File, ...]


@register(PluginKind.SETUP, "upload_file")
class UploadFile:
    """`files`: a list of `{local_path, path}`; `local_path` names an asset, never a file of the service's machine."""

    def check(self, parameters: Mapping[str, Any]) -> None:
        _Upload.parse(parameters)

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:
        for file in _Upload.parse(parameters).files:
            context.desktop.write_file(file.path, context.asset(file.local_path))
