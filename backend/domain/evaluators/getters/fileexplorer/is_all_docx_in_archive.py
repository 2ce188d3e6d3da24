"""`is_all_docx_in_archive`: whether a folder's Archive has all its Word documents and nothing else. WAA."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._evidence import ParameterGetter
from backend.domain.evaluators.getters._folders import file_names, join_path, list_folder
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _Folder(Parameters):
    folder_path: str


@register(PluginKind.GETTER, "is_all_docx_in_archive")
class IsAllDocxInArchive(ParameterGetter):
    """`folder_path`. The value is the text `true` or `false`."""

    Params = _Folder

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        path = _Folder.parse(parameters).folder_path
        return [list_folder(context, path), list_folder(context, join_path(path, "Archive"))]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        if len(blobs) != 2:  # noqa: PLR2004 - the folder and its archive.
            raise EvaluatorFailed(f"two folders were requested, {len(blobs)} were collected", code="evidence_mismatch")
        remaining_names, moved = file_names(blobs[0]), file_names(blobs[1])
        fine = (
            remaining_names is not None
            and moved
            and all(map(_is_docx, moved))
            and not any(map(_is_docx, remaining_names))
        )
        return "true" if fine else "false"


def _is_docx(name: str) -> bool:
    return name.lower().endswith(".docx")
