"""`zipped_folder_in_desktop`: whether a 7z archive holds a file and opens with a password. WAA."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import Invalid
from backend.domain.evaluators.getters._evidence import ParameterGetter, fetch_file, only
from backend.domain.formats.seven_zip import SevenZip
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

MEMBER = "OldProjects/example.txt"


class _Archive(Parameters):
    filename: str
    password: str


@register(PluginKind.GETTER, "zipped_folder_in_desktop")
class ZippedFolderInDesktop(ParameterGetter):
    """`filename` (its path), `password`. The value is the text `true` or `false`.

    `true` if the archive is encrypted with this password and contains `OldProjects/example.txt`.
    """

    Params = _Archive

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        return [fetch_file(context, _Archive.parse(parameters).filename)]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        data = only(blobs).data
        return "true" if data is not None and _opens(data, _Archive.parse(parameters).password) else "false"


def _opens(data: bytes, password: str) -> bool:
    try:
        archive = SevenZip(data, password)
        member = next((entry for entry in archive.entries if entry.name.replace("\\", "/") == MEMBER), None)
        if member is None or not archive.locked:
            return False
        archive.content(member)
    except Invalid:
        return False  # The archive cannot be opened.
    return True
