"""`is_file_desktop`: whether a file is on the desktop. WAA."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter
from backend.domain.evaluators.getters._folders import desktop_folder, path_of
from backend.domain.evaluators.getters._routes import agreed, ask_route
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _File(Parameters):
    filename: str


@register(PluginKind.GETTER, "is_file_desktop")
class IsFileDesktop(ParameterGetter):
    """`filename`. The value is the text `true` or `false`."""

    Params = _File

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        folder = desktop_folder(context)
        if folder.data is None or not agreed(folder):
            return [folder]
        payload = {"path": path_of(folder), "file_name": _File.parse(parameters).filename}
        return [folder, ask_route(context, "/file_exists", payload)]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        return "true" if all(map(agreed, blobs)) else "false"
