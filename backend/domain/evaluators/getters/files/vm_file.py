"""`vm_file`: files of the desktop."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import model_validator

from backend.domain.evaluators.getters._clock import local_instant, read_clock
from backend.domain.evaluators.getters._evidence import ParameterGetter, fetch_file, first_of
from backend.domain.evaluators.getters._files import FilesParams, write_blobs
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

DAY = "%Y_%m_%d"


class _VmFile(FilesParams):
    time_suffix: bool = False
    time_format: str = DAY

    @model_validator(mode="after")
    def _check_single(self) -> Self:
        if self.time_suffix and self.multi:
            raise ValueError("`time_suffix` is for a single file")
        return self


@register(PluginKind.GETTER, "vm_file")
class VmFile(ParameterGetter):
    """`path` on the desktop, `dest` the copy's name; `multi`, `gives`. The value is the copy's path, None if absent.

    With `time_suffix` the file's name has the desktop's date before its extension (`time_format`); the name without the
    date is the fallback. The copy is always called `dest`.
    """

    Params = _VmFile

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        params = _VmFile.parse(parameters)
        if not params.time_suffix:
            return [fetch_file(context, path) for path in params.paths]
        dated = _with_date(params.paths[0], local_instant(read_clock(context)).strftime(params.time_format))
        return [first_of(context, [dated, params.paths[0]])]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:
        return write_blobs(_VmFile.parse(parameters), blobs, folder)


def _with_date(path: str, date: str) -> str:
    name = max(path.rfind("/"), path.rfind("\\")) + 1
    stem, dot, end = path[name:].rpartition(".")
    return f"{path[:name]}{stem}{date}.{end}" if dot else f"{path}{date}"
