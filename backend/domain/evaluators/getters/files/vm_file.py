"""`vm_file`: files of the desktop."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import GuestRefused
from backend.domain.evaluators.getters._files import Files, written
from backend.domain.ports import SetupContext
from backend.domain.registry import Kind, register
from backend.domain.score import Blob


@register(Kind.GETTER, "vm_file")
class VmFile:
    """`path` in the desktop, `dest` the copy's name; `multi`, `gives`. The value is the copy's path, None if absent."""

    def check(self, parameters: Mapping[str, Any]) -> None:
        """Raises Invalid if the parameters are wrong."""
        Files.of(parameters)

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        """See the port."""
        return [_fetched(context, path) for path in Files.of(parameters).paths]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:
        """See the port."""
        return written(Files.of(parameters), blobs, folder)


def _fetched(context: SetupContext, path: str) -> Blob:
    try:
        return Blob(name=path, data=context.desktop.read_file(path))
    except GuestRefused as error:
        return Blob(name=path, note=error.message)
