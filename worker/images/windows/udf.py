"""Reads files of a Windows install medium in place: its file system is UDF, its `install.wim` too large to take out.

As much of UDF 1.02 as Microsoft's and genisoimage's media use: one partition, files in whole extents, no virtual
tables. Source: ECMA-167 (numbers of sections below), which ecma-international.org publishes.
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
_HINT = "Is it the ISO file of Windows, whole and as Microsoft gives it?"


class Extent(NamedTuple):
    """Where a piece of a file lies in the medium, in bytes."""

    start: int
    length: int


class Udf:
    """An open medium. Use as a context manager."""

    def __init__(self, path: Path) -> None:
        """Finds the root directory.

        Raises:
            Invalid: it is no such medium, or damaged.
        """
        self._path = path
        try:
            self._file: BinaryIO = path.open("rb")
        except OSError as error:
            raise Invalid(f"it cannot be opened: {error.strerror}", code="invalid_iso", path=str(path)) from error
        try:
            self._partition, file_set = self._volume()
            # 4/14.1: the file set names the root's entry.
            root = struct.unpack_from("<I", self._block(file_set, _FILE_SET), 404)[0]
        except Invalid:
            self._file.close()
            raise
        self._root: int = root

    def __enter__(self) -> Self:
        """Nothing more to do."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the file."""
        self._file.close()

    def find(self, path: str) -> tuple[Extent, ...] | None:
        """Where a file lies, None if there is none. Names are compared without case, as Windows does.

        Raises:
            Invalid: the medium is damaged.
        """
        block = self._root
        for name in path.split("/"):
            names = {each.lower(): place for each, place in self._directory(block)}
            if name.lower() not in names:
                return None
            block = names[name.lower()]
        return tuple(self._extents(block))

    def read(self, extents: tuple[Extent, ...], offset: int, size: int) -> bytes:
        """A part of a file. Raises Invalid if it ends before."""
        parts = []
        for extent in extents:
            take = min(size, extent.length - offset)
            if take > 0:
                parts.append(self._bytes(extent.start + offset, take))
                size -= take
            offset = max(0, offset - extent.length)
        if size:
            raise self._damaged(f"a file ends {size} bytes before what it should hold")
        return b"".join(parts)

    def _volume(self) -> tuple[int, int]:
        """First byte of the partition, and the block in it at which the file set lies (3/10.2, 3/10.5, 3/10.6)."""
        anchor = self._bytes(_ANCHOR * SECTOR, SECTOR)
        length, place = struct.unpack_from("<II", anchor, 16)
        if struct.unpack_from("<H", anchor)[0] != _PRIMARY_ANCHOR:
            raise self._damaged("it has no UDF file system")
        partition = file_set = None
        for number in range(min(length // SECTOR, _MOST_DESCRIPTORS)):
            descriptor = self._bytes((place + number) * SECTOR, SECTOR)
            tag = struct.unpack_from("<H", descriptor)[0]
            if tag == _PARTITION:
                partition = struct.unpack_from("<I", descriptor, 188)[0] * SECTOR
            elif tag == _LOGICAL:
                file_set = struct.unpack_from("<I", descriptor, 252)[0]
            elif tag == _TERMINATOR:
                break
        if partition is None or file_set is None:
            raise self._damaged("its volume is not described")
        return partition, file_set

    def _directory(self, block: int) -> Iterator[tuple[str, int]]:
        """Names in a directory and the blocks of their entries (4/14.4)."""
        extents = tuple(self._extents(block))
        size = sum(extent.length for extent in extents)
        if size > _MOST_DIRECTORY:
            raise self._damaged("a directory is too large")
        data, at = self.read(extents, 0, size), 0
        while at + 38 <= len(data):
            tag, flags, name_length = struct.unpack_from("<H16xBB", data, at)
            place, further = struct.unpack_from("<I", data, at + 24)[0], struct.unpack_from("<H", data, at + 36)[0]
            if tag != _FILE_ID:
                raise self._damaged("a directory holds something else than names")
            name = data[at + 38 + further : at + 38 + further + name_length]
            if not flags & (_PARENT | _DELETED):
                yield _name(name), place
            at += -(-(38 + further + name_length) // 4) * 4

    def _extents(self, block: int) -> Iterator[Extent]:
        """Where the content of a file or directory lies (4/14.6, 4/14.9, 4/14.17)."""
        entry = self._block(block, _FILE, _EXTENDED_FILE)
        kind = struct.unpack_from("<H", entry, 34)[0] & 7
        left = struct.unpack_from("<Q", entry, 56)[0]
        head = 176 if struct.unpack_from("<H", entry)[0] == _FILE else 216
        before, length = struct.unpack_from("<II", entry, head - 8)
        start = head + before
        if kind == _EMBEDDED:
            yield Extent(self._partition + block * SECTOR + start, left)
            return
        step = {_SHORT: 8, _LONG: 16}.get(kind)
        if step is None or start + length > SECTOR:
            raise self._damaged("a file lies in a form that is not understood")
        for at in range(start, start + length, step):
            size, place = struct.unpack_from("<II", entry, at)
            size = min(size & 0x3FFFFFFF, left)
            left -= size
            if size:
                yield Extent(self._partition + place * SECTOR, size)

    def _block(self, number: int, *tags: int) -> bytes:
        block = self._bytes(self._partition + number * SECTOR, SECTOR)
        if struct.unpack_from("<H", block)[0] not in tags:
            raise self._damaged(f"block {number} is not what it should be")
        return block

    def _bytes(self, start: int, size: int) -> bytes:
        self._file.seek(start)
        data = self._file.read(size)
        if len(data) != size:
            raise self._damaged("it ends too early")
        return data

    def _damaged(self, what: str) -> Invalid:
        return Invalid(what, code="invalid_iso", path=str(self._path), hint=_HINT)


def _name(coded: bytes) -> str:
    """OSTA's compressed Unicode (UDF 2.1.1): the first byte says how many bits a character has."""
    return coded[1:].decode("utf-16-be" if coded[:1] == b"\x10" else "latin-1", "replace")
