"""`check_file_contains`: the text in a file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from backend.domain.evaluators.getters._evidence import ParameterGetter, fetch_file, only, write_blob
from backend.domain.evaluators.getters.omnibench._checked import Text
from backend.domain.formats.any_text import read_any_text
from backend.domain.model.score import Blob
from backend.domain.omnibench.expression import DIALECT
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class FileText(Text):
    """A file (`file_path`) and the text (`text`) that it must contain."""

    file_path: str = Field(min_length=1, max_length=250)


@register(PluginKind.GETTER, "check_file_contains", dialect=DIALECT)
class CheckFileContains(ParameterGetter):
    """The value is `{text, content}`: the file's text, also of office documents; None if it has no text."""

    Params = FileText

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        return [fetch_file(context, FileText.parse(parameters).file_path)]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:
        params = FileText.parse(parameters)
        content, _ = read_any_text(write_blob(only(blobs), params.file_path, folder))
        return {"text": params.text, "content": content}
