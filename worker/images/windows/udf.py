"""Reader for files of a Windows installation medium: UDF, read in place because `install.wim` is large.

Supports UDF 1.02 as on Microsoft's and genisoimage's media: one partition, files in whole extents, no virtual tables.
Source: ECMA-167 (section numbers below), published by ecma-international.org.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, Self

from backend.domain.errors import Invalid

SECTOR = 2048
_ANCHOR = 256
_MOST_DIRECTORY = 16 * 2**20
_MOST_DESCRIPTORS = 64
_PRIMARY_ANCHOR, _PARTITION, _LOGICAL, _TERMINATOR = 2, 5, 6, 8
_FILE_SET, _FILE_ID, _FILE, _EXTENDED_FILE = 256, 257, 261, 266
_PARENT, _DELETED = 0x08, 0x04
_EMBEDDED, _SHORT, _LONG = 3, 0, 1
_HINT = "Check that it is a complete, unmodified Windows ISO file."


class Extent(NamedTuple):
    """Location of a piece of a file in the medium, in bytes."""

    start: int
    length: int


class Udf:
    """An open medium. Use as a context manager."""

    def __init__(self, path: Path) -> None:
        """Finds the root directory.

        Raises:
            Invalid: It is not such a medium, or is damaged.
        """
        self._path = path
        try:
            self._file: BinaryIO = path.open("rb")
        except OSError as error:
            raise Invalid(f"cannot be opened: {error.strerror}", code="invalid_iso", path=str(path)) from error
        try:
            self._partition, file_set = self._volume()
            # 4/14.1: the file set refers to the root's entry.
            root = struct.unpack_from("<I", self._block(file_set, _FILE_SET), 404)[0]
        except Invalid:
            self._file.close()
            raise
        self._root: int = root

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def find(self, path: str) -> tuple[Extent, ...] | None:
        """Location of a file; None if it does not exist. Names are case-insensitive, as in Windows.

        Raises:
            Invalid: The medium is damaged.
        """
        block = self._root
        for name in path.split("/"):
            names = {name.lower(): start for name, start in self._directory(block)}
            if name.lower() not in names:
                return None
            block = names[name.lower()]
        return tuple(self._extents(block))

    def read(self, extents: tuple[Extent, ...], offset: int, size: int) -> bytes:
        """A part of a file. Raises Invalid if it is shorter."""
        parts = []
        for extent in extents:
            take = min(size, extent.length - offset)
            if take > 0:
                parts.append(self._bytes(extent.start + offset, take))
                size -= take
            offset = max(0, offset - extent.length)
        if size:
            raise self._invalid_image(f"a file is {size} bytes too short")
        return b"".join(parts)

    def _volume(self) -> tuple[int, int]:
        """First byte of the partition, and the block of the file set in it (3/10.2, 3/10.5, 3/10.6)."""
        anchor = self._bytes(_ANCHOR * SECTOR, SECTOR)
        length, block = struct.unpack_from("<II", anchor, 16)
        if struct.unpack_from("<H", anchor)[0] != _PRIMARY_ANCHOR:
            raise self._invalid_image("it has no UDF file system")
        partition = file_set = None
        for number in range(min(length // SECTOR, _MOST_DESCRIPTORS)):
            descriptor = self._bytes((block + number) * SECTOR, SECTOR)
            tag = struct.unpack_from("<H", descriptor)[0]
            if tag == _PARTITION:
                partition = struct.unpack_from("<I", descriptor, 188)[0] * SECTOR
            elif tag == _LOGICAL:
                file_set = struct.unpack_from("<I", descriptor, 252)[0]
            elif tag == _TERMINATOR:
                break
        if partition is None or file_set is None:
            raise self._invalid_image("it has no volume descriptor")
        return partition, file_set

    def _directory(self, block: int) -> Iterator[tuple[str, int]]:
        """Names in a directory and the blocks of their entries (4/14.4)."""
        extents = tuple(self._extents(block))
        size = sum(extent.length for extent in extents)
        if size > _MOST_DIRECTORY:
            raise self._invalid_image("a directory is too large")
        data, at = self.read(extents, 0, size), 0
        while at + 38 <= len(data):
            tag, flags, name_length = struct.unpack_from("<H16xBB", data, at)
            start, further = struct.unpack_from("<I", data, at + 24)[0], struct.unpack_from("<H", data, at + 36)[0]
            if tag != _FILE_ID:
                raise self._invalid_image("a directory is malformed")
            name = data[at + 38 + further : at + 38 + further + name_length]
            if not flags & (_PARENT | _DELETED):
                yield _name(name), start
            at += -(-(38 + further + name_length) // 4) * 4

    def _extents(self, block: int) -> Iterator[Extent]:
        """Location of the content of a file or directory (4/14.6, 4/14.9, 4/14.17)."""
        entry = self._block(block, _FILE, _EXTENDED_FILE)
        kind = struct.unpack_from("<H", entry, 34)[0] & 7
        remaining = struct.unpack_from("<Q", entry, 56)[0]
        head = 176 if struct.unpack_from("<H", entry)[0] == _FILE else 216
        before, length = struct.unpack_from("<II", entry, head - 8)
        start = head + before
        if kind == _EMBEDDED:
            yield Extent(self._partition + block * SECTOR + start, remaining)
            return
        step = {_SHORT: 8, _LONG: 16}.get(kind)
        if step is None or start + length > SECTOR:
            raise self._invalid_image("a file has an unsupported layout")
        for at in range(start, start + length, step):
            size, place = struct.unpack_from("<II", entry, at)
            size = min(size & 0x3FFFFFFF, remaining)
            remaining -= size
            if size:
                yield Extent(self._partition + place * SECTOR, size)

    def _block(self, number: int, *tags: int) -> bytes:
        block = self._bytes(self._partition + number * SECTOR, SECTOR)
        if struct.unpack_from("<H", block)[0] not in tags:
            raise self._invalid_image(f"block {number} has unexpected content")
        return block

    def _bytes(self, start: int, size: int) -> bytes:
        self._file.seek(start)
        data = self._file.read(size)
        if len(data) != size:
            raise self._invalid_image("it is truncated")
        return data

    def _invalid_image(self, problem: str) -> Invalid:
        return Invalid(problem, code="invalid_iso", path=str(self._path), hint=_HINT)


def _name(coded: bytes) -> str:
    """OSTA compressed Unicode (UDF 2.1.1): the first byte is the number of bits per character."""
    return coded[1:].decode("utf-16-be" if coded[:1] == b"\x10" else "latin-1", "replace")
