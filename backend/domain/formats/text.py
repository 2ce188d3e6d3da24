"""Reads untrusted text files."""

from pathlib import Path

MAX_BYTES = 32 * 2**20
_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb\xbf": "utf-8-sig"}


def read_text(path: str | None) -> tuple[str | None, str]:
    """The text of a file with `LF` line ends, or the reason why there is none.

    UTF-8, or UTF-16 with a byte-order mark; bytes that are neither become U+FFFD, so that a comparison shows them.

    Returns:
        (text, "") or (None, reason).
    """
    if path is None or not Path(path).is_file():
        return None, "the file does not exist"
    if Path(path).stat().st_size > MAX_BYTES:
        return None, f"the file is larger than {MAX_BYTES // 2**20} MiB"
    data = Path(path).read_bytes()
    encoding = next((name for mark, name in _MARKS.items() if data.startswith(mark)), "utf-8")
    return data.decode(encoding, errors="replace").replace("\r\n", "\n").replace("\r", "\n"), ""
