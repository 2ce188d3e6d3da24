"""Reads untrusted text files."""

from pathlib import Path

MAX_BYTES = 32 * 2**20
_MARKS = {
    b"\xff\xfe\0\0": "utf-32",
    b"\0\0\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
    b"\xef\xbb\xbf": "utf-8-sig",
}
_SAMPLE = 4096
_BYTES = {0xDC00 + byte: 0xF700 + byte for byte in range(0x80, 0x100)}
"""From Python's stand-ins for bytes that are no UTF-8, which nothing could store, to characters for private use."""


def line_feeds(text: str) -> str:
    """The text with line ends as in `read_text`, for what tasks and commands of Windows write."""
    return text.replace("\r\n", "\n")


def read_text(path: str | None) -> tuple[str | None, str]:
    """The text of a file with `LF` line ends, or the reason why there is none.

    UTF-8, UTF-16 or UTF-32, with a byte-order mark or without (UTF-16 as far as its letters are mostly Western). Each
    byte that is not UTF-8 becomes one of the characters U+F780 to U+F7FF.

    Returns:
        (text, "") or (None, reason).
    """
    if path is None or not Path(path).is_file():
        return None, "the file does not exist"
    if Path(path).stat().st_size > MAX_BYTES:
        return None, f"the file is larger than {MAX_BYTES // 2**20} MiB"
    data = Path(path).read_bytes()
    encoding = next((name for mark, name in _MARKS.items() if data.startswith(mark)), None) or encoding_of(data)
    return _decode(data, encoding).replace("\r\n", "\n").replace("\r", "\n"), ""


def split_lines(text: str) -> list[str]:
    """The lines of a text with `LF` line ends, without these. Form feeds and the like end no line."""
    return text.removesuffix("\n").split("\n") if text else []


def encoding_of(data: bytes) -> str:
    """The encoding without a byte-order mark: UTF-16 if every second byte is mostly zero, else UTF-8."""
    sample = data[: min(len(data), _SAMPLE) // 2 * 2]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if len(data) % 2 or 2 * max(even, odd) <= len(sample) // 2 or min(even, odd) * 8 > max(even, odd):
        return "utf-8"
    return "utf-16-le" if odd > even else "utf-16-be"


def _decode(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        if encoding.startswith(("utf-16", "utf-32")):
            return data.decode(encoding, errors="replace")
        return data.decode(encoding, errors="surrogateescape").translate(_BYTES)
