"""Reads untrusted text files."""

from pathlib import Path

MAX_BYTES = 32 * 2**20
_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb\xbf": "utf-8-sig"}
_BYTES = {0xDC00 + byte: 0xF700 + byte for byte in range(0x80, 0x100)}
"""From Python's stand-ins for bytes that are no UTF-8, which nothing could store, to characters for private use."""


def read_text(path: str | None) -> tuple[str | None, str]:
    """The text of a file with `LF` line ends, or the reason why there is none.

    UTF-8, or UTF-16 with a byte-order mark. Each byte that is not UTF-8 becomes one of the characters U+F780 to U+F7FF.

    Returns:
        (text, "") or (None, reason).
    """
    if path is None or not Path(path).is_file():
        return None, "the file does not exist"
    if Path(path).stat().st_size > MAX_BYTES:
        return None, f"the file is larger than {MAX_BYTES // 2**20} MiB"
    data = Path(path).read_bytes()
    encoding = next((name for mark, name in _MARKS.items() if data.startswith(mark)), "utf-8")
    return _decode(data, encoding).replace("\r\n", "\n").replace("\r", "\n"), ""


def _decode(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        if encoding == "utf-16":
            return data.decode(encoding, errors="replace")
        return data.decode(encoding, errors="surrogateescape").translate(_BYTES)
