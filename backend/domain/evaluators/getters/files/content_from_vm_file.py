"""`content_from_vm_file`: a part of a document of the desktop: the last row of a workbook's first sheet."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from backend.domain.evaluators.getters._evidence import ParameterGetter, fetch_file, only, write_blob
from backend.domain.evaluators.getters.files._last_row import last_row
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _Content(Parameters):
    path: str
    file_type: Literal["xlsx"]
    file_content: Literal["last_row"]


@register(PluginKind.GETTER, "content_from_vm_file")
class ContentFromVmFile(ParameterGetter):
    """`path`, `file_type` (`xlsx`), `file_content` (`last_row`). The value is a list of texts.

    None if the file does not exist, is not a workbook, or has no row below its header.
    """

    Params = _Content

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        return [fetch_file(context, _Content.parse(parameters).path)]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        path = write_blob(only(blobs), "book.xlsx", folder)
        return None if path is None else last_row(path)
