"""Streaming archives: tar or zip, reproducible for the same files."""

import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import RawIOBase

from backend.domain.model.trajectory_export import SUFFIXES
from backend.services.export.export import ExportFile

_BEGINNING = (1980, 1, 1, 0, 0, 0)
_MODE = 0o644
_PICTURES = tuple(f".{suffix}" for suffix in SUFFIXES.values())


def as_tar(entries: Iterable[ExportFile]) -> Iterator[bytes]:
    """An uncompressed tar; readers can stop after any file."""
    for entry in entries:
        info = tarfile.TarInfo(entry.name)
        info.size, info.mode = entry.size, _MODE
        yield info.tobuf(tarfile.PAX_FORMAT)
        yield from entry.chunks()
        yield b"\0" * (-entry.size % tarfile.BLOCKSIZE)
    yield b"\0" * (2 * tarfile.BLOCKSIZE)


def as_zip(entries: Iterable[ExportFile]) -> Iterator[bytes]:
    """A zip. Pictures are stored, everything else is compressed."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w") as archive:
        for entry in entries:
            info = zipfile.ZipInfo(entry.name, _BEGINNING)
            info.external_attr = _MODE << 16
            info.file_size = entry.size
            info.compress_type = zipfile.ZIP_STORED if entry.name.endswith(_PICTURES) else zipfile.ZIP_DEFLATED
            with archive.open(info, "w") as target:
                for chunk in entry.chunks():
                    target.write(chunk)
                    yield sink.take()
            yield sink.take()
    yield sink.take()


class _Sink(RawIOBase):
    """Buffers written bytes until they are taken. It cannot seek, so sizes follow the files."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        chunk = bytes(data)  # type: ignore[call-overload]  # any buffer
        self._chunks.append(chunk)
        return len(chunk)

    def take(self) -> bytes:
        """Bytes since the last call."""
        data = b"".join(self._chunks)
        self._chunks.clear()
        return data


ARCHIVES: Mapping[str, tuple[str, Callable[[Iterable[ExportFile]], Iterator[bytes]]]] = {
    "tar": ("application/x-tar", as_tar),
    "zip": ("application/zip", as_zip),
}
"""Name -> media type and writer."""
