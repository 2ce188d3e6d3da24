"""Files as one stream: tar or zip, with the same bytes for the same files."""

import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import RawIOBase

from backend.services.export.export import ExportFile

_BEGINNING = (1980, 1, 1, 0, 0, 0)
_MODE = 0o644


def as_tar(entries: Iterable[ExportFile]) -> Iterator[bytes]:
    """An uncompressed tar; whoever reads it can stop at any file."""
    for entry in entries:
        info = tarfile.TarInfo(entry.name)
        info.size, info.mode = entry.size, _MODE
        yield info.tobuf(tarfile.PAX_FORMAT)
        yield from entry.chunks()
        yield b"\0" * (-entry.size % tarfile.BLOCKSIZE)
    yield b"\0" * (2 * tarfile.BLOCKSIZE)


def as_zip(entries: Iterable[ExportFile]) -> Iterator[bytes]:
    """A zip. Pictures are stored as they are, everything else is compressed."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w") as archive:
        for entry in entries:
            info = zipfile.ZipInfo(entry.name, _BEGINNING)
            info.external_attr = _MODE << 16
            info.file_size = entry.size
            info.compress_type = zipfile.ZIP_STORED if entry.name.startswith("images/") else zipfile.ZIP_DEFLATED
            with archive.open(info, "w") as target:
                for chunk in entry.chunks():
                    target.write(chunk)
                    yield sink.taken()
            yield sink.taken()
    yield sink.taken()


class _Sink(RawIOBase):
    """Keeps what is written until it is taken. It cannot be gone back in, so sizes follow the files."""

    def __init__(self) -> None:
        self._kept: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        chunk = bytes(data)  # type: ignore[call-overload]  # any buffer
        self._kept.append(chunk)
        return len(chunk)

    def taken(self) -> bytes:
        """Everything since the last time."""
        data = b"".join(self._kept)
        self._kept.clear()
        return data


ARCHIVES: Mapping[str, tuple[str, Callable[[Iterable[ExportFile]], Iterator[bytes]]]] = {
    "tar": ("application/x-tar", as_tar),
    "zip": ("application/zip", as_zip),
}
"""Media type and writer by name."""
