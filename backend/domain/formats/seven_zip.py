"""Reads 7z archives: names, encryption, and single files.

Source: the 7z format's description in the LZMA SDK (`7zFormat.txt`), which is in the public domain. Supports 7-Zip's
    default output: each file packed by a chain of coders with one input and one output.
Not by py7zr: it would bring eight packages, most of them for methods that no task uses (decision 0021).
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from backend.domain.errors import EvaluatorFailed, Invalid
from backend.domain.formats.seven_zip_coders import AES, Coder, undone

SIGNATURE = b"7z\xbc\xaf\x27\x1c"
MAX_FILES, MAX_FOLDERS, MAX_CODERS, MAX_HEADER = 100_000, 10_000, 8, 16 * 2**20
_START = 32
_END, _HEADER, _EXTRA, _STREAMS, _FILES = 0x00, 0x01, 0x02, 0x04, 0x05
_PACK, _UNPACK, _SUB, _SIZES, _DIGESTS, _FOLDERS, _UNPACKED, _COUNTS = 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0D
_EMPTY, _NAMES, _ENCODED = 0x0E, 0x11, 0x17


@dataclass
class Folder:
    """Files packed together: their chain of coders in decoding order, and the position of the packed bytes."""

    coders: list[Coder]
    crc: int | None = None
    start: int = 0
    packed: int = 0
    sizes: list[int] = field(default_factory=list)
    crcs: list[int | None] = field(default_factory=list)

    @property
    def locked(self) -> bool:
        """Whether it is encrypted."""
        return any(coder.method == AES for coder in self.coders)


@dataclass(frozen=True)
class SevenZipEntry:
    """A file: its position within its folder; None for an empty one."""

    name: str
    folder: Folder | None
    position: int = 0


class SevenZip:
    """An archive.

    Attributes:
        entries: files and folders.
        locked: the names or a file are encrypted.
    """

    def __init__(self, data: bytes, password: str = "") -> None:
        """Reads the directory.

        Raises:
            Invalid: it is not a 7z archive, is damaged, or the password is wrong.
            EvaluatorFailed: its compression is not supported.
        """
        self._data, self._password, self.locked = data, password, False
        self.entries: list[SevenZipEntry] = []
        try:
            self._read(self._directory())
        except (IndexError, OverflowError, MemoryError, UnicodeDecodeError) as error:
            raise Invalid("the archive is damaged", code="archive_damaged") from error

    def content(self, entry: SevenZipEntry) -> bytes:
        """The bytes of a file, with checked checksum. Raises as the class does."""
        folder = entry.folder
        if folder is None:
            return b""
        start = sum(folder.sizes[: entry.position])
        data = self._unpack_folder(folder)[start : start + folder.sizes[entry.position]]
        _check(data, folder.crcs[entry.position])
        return data

    def _directory(self) -> bytes:
        if self._data[:6] != SIGNATURE or len(self._data) < _START:
            raise Invalid("the file is not a 7z archive", code="not_an_archive")
        start, size = (int.from_bytes(self._data[at : at + 8], "little") for at in (12, 20))
        header = self._data[_START + start : _START + start + size]
        if size > MAX_HEADER or len(header) != size:
            raise Invalid("the archive is truncated", code="archive_truncated")
        _check(header, int.from_bytes(self._data[28:32], "little"))
        while header[:1] == bytes([_ENCODED]):
            folders = _Reader(header[1:]).streams()
            if len(folders) != 1:
                raise Invalid("the archive's directory is damaged", code="archive_damaged")
            self.locked |= folders[0].locked
            header = self._unpack_folder(folders[0])
            if len(header) > MAX_HEADER:
                raise Invalid("the archive's directory is too large", code="archive_too_large")
        return header

    def _read(self, header: bytes) -> None:
        reader = _Reader(header)
        if not header or reader.byte() != _HEADER:
            return
        kind, folders = reader.byte(), list[Folder]()
        if kind == _EXTRA:
            raise EvaluatorFailed("the archive has unsupported properties", code="archive_not_supported")
        if kind == _STREAMS:
            folders, kind = reader.streams(), reader.byte()
        if kind == _FILES:
            self.entries = reader.files(folders)
        self.locked |= any(folder.locked for folder in folders)

    def _unpack_folder(self, folder: Folder) -> bytes:
        data = self._data[_START + folder.start : _START + folder.start + folder.packed]
        for coder in folder.coders:
            data = undone(data, coder, self._password)
        _check(data, folder.crc)
        return data


def _check(data: bytes, crc: int | None) -> None:
    if crc is not None and zlib.crc32(data) != crc:
        raise Invalid("the archive is damaged, or the password is wrong", code="archive_damaged_or_encrypted")


class _Reader:
    """Reads the parts of the directory in order. Raises IndexError if it is truncated."""

    def __init__(self, data: bytes) -> None:
        self.data, self._at = data, 0

    def byte(self) -> int:
        self._at += 1
        return self.data[self._at - 1]

    def take(self, number: int) -> bytes:
        if number > len(self.data) - self._at:
            raise IndexError(number)
        self._at += number
        return self.data[self._at - number : self._at]

    def number(self, most: int = 2**63) -> int:
        """A number of up to nine bytes; the leading ones of the first byte give the number of bytes that follow."""
        first, value = self.byte(), 0
        for position in range(8):
            mask = 0x80 >> position
            if not first & mask:
                value |= (first & (mask - 1)) << (8 * position)
                break
            value |= self.byte() << (8 * position)
        if value > most:
            raise Invalid(f"the archive's directory names {value} parts or bytes", code="archive_too_large")
        return value

    def bits(self, number: int) -> list[bool]:
        data = self.take((number + 7) // 8)
        return [bool(data[index // 8] & 0x80 >> index % 8) for index in range(number)]

    def digests(self, number: int) -> list[int | None]:
        defined_flags = [True] * number if self.byte() else self.bits(number)
        return [int.from_bytes(self.take(4), "little") if defined else None for defined in defined_flags]

    def streams(self) -> list[Folder]:
        """Position and coders of the packed bytes."""
        start, packed, folders = 0, list[int](), list[Folder]()
        while (kind := self.byte()) != _END:
            if kind == _PACK:
                start, packed = self._pack()
            elif kind == _UNPACK:
                folders = self._unpack()
            elif kind == _SUB:
                self._sub(folders)
            else:
                _unknown(kind)
        if len(packed) < len(folders):
            raise Invalid("the archive's directory is damaged", code="archive_damaged")
        for folder, size in zip(folders, packed, strict=False):
            folder.start, folder.packed, start = start, size, start + size
            folder.sizes = folder.sizes or [folder.coders[-1].size]
            folder.crcs = folder.crcs or [folder.crc]
        return folders

    def _pack(self) -> tuple[int, list[int]]:
        start, number, sizes = self.number(), self.number(MAX_FOLDERS), list[int]()
        while (kind := self.byte()) != _END:
            if kind == _SIZES:
                sizes = [self.number() for _ in range(number)]
            elif kind == _DIGESTS:
                self.digests(number)
            else:
                _unknown(kind)
        return start, sizes

    def _unpack(self) -> list[Folder]:
        if self.byte() != _FOLDERS:
            _unknown(_UNPACK)
        number = self.number(MAX_FOLDERS)
        if self.byte():
            _unknown(_FOLDERS)
        chains = [self._chain() for _ in range(number)]
        if self.byte() != _UNPACKED:
            _unknown(_UNPACK)
        folders = []
        for steps, order in chains:
            sizes = [self.number() for _ in steps]
            folders.append(Folder([Coder(*steps[index], sizes[index]) for index in order]))
        while (kind := self.byte()) != _END:
            if kind != _DIGESTS:
                _unknown(kind)
            for folder, crc in zip(folders, self.digests(number), strict=True):
                folder.crc = crc
        return folders

    def _chain(self) -> tuple[list[tuple[bytes, bytes]], list[int]]:
        """The coders as listed, and their decoding order."""
        steps: list[tuple[bytes, bytes]] = []
        for _ in range(self.number(MAX_CODERS)):
            flags = self.byte()
            method = self.take(flags & 0xF)
            if flags & 0xD0:
                raise EvaluatorFailed("the archive is packed in an unsupported way", code="archive_not_supported")
            steps.append((method, self.take(self.number(1024)) if flags & 0x20 else b""))
        feeds = {}
        for _ in range(len(steps) - 1):
            into, out = self.number(MAX_CODERS), self.number(MAX_CODERS)
            feeds[out] = into
        order = [index for index in range(len(steps)) if index not in feeds.values()][:1]
        while order and order[-1] in feeds and len(order) < len(steps):
            order.append(feeds[order[-1]])
        if len(order) != len(steps) or not order or max(order) >= len(steps):
            raise Invalid("the archive's directory is damaged", code="archive_damaged")
        return steps, order

    def _sub(self, folders: Sequence[Folder]) -> None:
        counts = [1] * len(folders)
        kind = self.byte()
        if kind == _COUNTS:
            counts, kind = [self.number(MAX_FILES) for _ in folders], self.byte()
        sized = kind == _SIZES
        for folder, count in zip(folders, counts, strict=True):
            known = [self.number() for _ in range(count - 1)] if sized else []
            total = folder.coders[-1].size
            folder.sizes = [*known, total - sum(known)] if count else []
        kind = self.byte() if sized else kind
        open_ones = [f for f, count in zip(folders, counts, strict=True) if count != 1 or f.crc is None]
        digests = iter(self.digests(sum(len(folder.sizes) for folder in open_ones)) if kind == _DIGESTS else [])
        for folder in folders:
            own = folder in open_ones
            folder.crcs = [next(digests, None) for _ in folder.sizes] if own else [folder.crc]
        while kind != _END:
            kind = self.byte()

    def files(self, folders: Sequence[Folder]) -> list[SevenZipEntry]:
        """The names in order; each non-empty file takes the next position in the folders."""
        number = self.number(MAX_FILES)
        names, empty = [""] * number, [False] * number
        while (kind := self.byte()) != _END:
            part = _Reader(self.take(self.number()))
            if kind == _EMPTY:
                empty = part.bits(number)
            elif kind == _NAMES:
                if part.byte():
                    _unknown(_NAMES)
                names = part.take(len(part.data) - 1).decode("utf-16-le").split("\0")[:number]
        places = iter([(folder, index) for folder in folders for index in range(len(folder.sizes))])
        entries = []
        for name, hollow in zip(names, empty, strict=True):
            position = None if hollow else next(places, None)
            entries.append(SevenZipEntry(name, None) if position is None else SevenZipEntry(name, *position))
        return entries


def _unknown(kind: int) -> NoReturn:
    raise Invalid(f"the archive's directory has a part of the unknown kind {kind}", code="archive_damaged")
