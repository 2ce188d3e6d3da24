"""`is_file_saved_desktop`: whether a text file on the desktop contains a text. WAA."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter, fetch_file, write_blob
from backend.domain.evaluators.getters._folders import desktop_folder, join_path, path_of
from backend.domain.evaluators.getters._routes import agreed
from backend.domain.formats.text import read_text
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _File(Parameters):
    filename: str
    textcontent: str


@register(PluginKind.GETTER, "is_file_saved_desktop")
class IsFileSavedDesktop(ParameterGetter):
    """`filename`, `textcontent`. The value is the text `true` or `false`."""

    Params = _File

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        folder = desktop_folder(context)
        if not agreed(folder):
            return [folder]
        return [folder, fetch_file(context, join_path(path_of(folder), _File.parse(parameters).filename))]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:
        if len(blobs) < 2 or blobs[1].data is None:  # noqa: PLR2004 - the folder and the file.
            return "false"
        text, _ = read_text(write_blob(blobs[1], "saved.txt", folder))
        return "true" if text is not None and _File.parse(parameters).textcontent in text else "false"
