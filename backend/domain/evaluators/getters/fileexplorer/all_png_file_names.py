"""`all_png_file_names`: whether a text file names each PNG picture of a folder, and nothing else. WAA."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._evidence import ParameterGetter, fetch_file, write_blob
from backend.domain.evaluators.getters._folders import file_names, list_folder
from backend.domain.formats.text import read_text
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _Names(Parameters):
    file_path: str
    folder_path: str


@register(PluginKind.GETTER, "all_png_file_names")
class AllPngFileNames(ParameterGetter):
    """`file_path`, `folder_path`. The value is the text `true` or `false`."""

    Params = _Names

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        params = _Names.parse(parameters)
        return [fetch_file(context, params.file_path), list_folder(context, params.folder_path)]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        if len(blobs) != 2:  # noqa: PLR2004 - the text and the folder.
            raise EvaluatorFailed(
                f"expected a file and a folder, got {len(blobs)} pieces of evidence", code="evidence_mismatch"
            )
        text, _ = read_text(write_blob(blobs[0], "names.txt", folder))
        if text is None:
            return "false"
        pictures = {name for name in file_names(blobs[1]) or () if name.lower().endswith(".png")}
        return "true" if set(text.splitlines()) == pictures else "false"
