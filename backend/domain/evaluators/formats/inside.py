"""All the text that is in a file, of whatever kind."""

import re
import zipfile
from html import unescape
from pathlib import Path

from backend.domain.evaluators.formats.packages import check_package
from backend.domain.evaluators.formats.text import read_text

_MOST_MEMBER = 32 * 2**20
_TAG = re.compile(rb"<[^>]*>")
_BREAKS = re.compile(rb"</(?:w:p|a:p|text:p|text:h|si|row|table:table-row)>|<(?:w:br|w:tab|text:line-break|text:tab)/>")


def text_inside(path: str) -> str | None:
    """The text of a text file, or of the XML in an office document; None if there is none to be read."""
    if not zipfile.is_zipfile(path):
        return read_text(path)[0] if Path(path).is_file() else None
    if check_package(path):
        return None
    with zipfile.ZipFile(path) as package:
        names = [info.filename for info in package.infolist() if info.filename.lower().endswith(".xml")]
        return "\n".join(_text(package.read(name)) for name in names if package.getinfo(name).file_size <= _MOST_MEMBER)


def _text(xml: bytes) -> str:
    return unescape(_TAG.sub(b"", _BREAKS.sub(b"\n", xml)).decode(errors="replace"))
