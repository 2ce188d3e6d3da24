"""Reads messages from Thunderbird's folder files (mbox) and from single messages (.eml).

Source: RFC 4155 and Thunderbird's `MboxMsgInputStream.cpp` for the form (a line `From - DATE`, `From ADDRESS DATE` or
`From ` alone begins a message; lines of a message that begin so have a `>` before); Thunderbird's own header fields as
its source names them (`nsMsgMessageFlags.h`).
"""

import re
from binascii import Error as NotBase64
from dataclasses import dataclass
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from pathlib import Path

MAX_BYTES = 64 * 2**20
_DATE = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]?\d \d\d:\d\d:\d\d(?: \S+)? \d{4}"
_START = re.compile(rf"^From(?: (?:-|\S+) +{_DATE}[^\n]*| (?=\n[!-9;-~]+:))$\n?", re.MULTILINE)
_ESCAPED = re.compile(r"^>(?=>*From )", re.MULTILINE)
_FOLDED = re.compile(r"\n(?=[ \t])")
_STATUS, _STATUS_2, _KEYS = "x-mozilla-status", "x-mozilla-status2", "x-mozilla-keys"
_FROM_THUNDERBIRD = re.compile(r"x-mozilla-|x-account-key$|x-uidl$")
_HEX = re.compile(r"\s*([0-9a-fA-F]{1,8})\b")
DELETED = 0x0008
_MAX_FIELD = 65_536  # characters


@dataclass(frozen=True)
class MailFlags:
    """Which of Thunderbird's marks count. `deleted`: whether messages marked as deleted count as existing."""

    status: bool = False
    keys: bool = False
    deleted: bool = False


def messages(path: str | None, reading: MailFlags) -> tuple[list[str] | None, str]:
    """The messages' texts, or the reason why there are none. An empty file is an empty folder."""
    if path is None or not Path(path).is_file():
        return None, "the folder's file does not exist"
    if Path(path).stat().st_size > MAX_BYTES:
        return None, f"the folder's file is larger than {MAX_BYTES // 2**20} MiB"
    text = Path(path).read_bytes().decode("latin-1").replace("\r\n", "\n").lstrip("\n")
    parts = [_ESCAPED.sub("", part) for part in _START.split(text)] if _START.match(text) else [text]
    read = [_read(part) for part in parts if part.strip()]
    return [_text(fields, body, reading) for fields, body in read if reading.deleted or not _is_deleted(fields)], ""


def _read(message: str) -> tuple[list[tuple[str, str]], str]:
    """Header fields (lower-case name, unfolded value) and body, without blanks at the ends of lines."""
    head, _, body = message.strip("\n").partition("\n\n")
    lines = _FOLDED.sub("", head).split("\n")
    fields = [(name.strip().lower(), _decode(value)) for name, _, value in (line.partition(":") for line in lines)]
    return fields, "\n".join(line.rstrip() for line in body.split("\n")).strip()


def _decode(value: str) -> str:
    """A field's value without encoded words (RFC 2047), which may be written in several ways; blanks once."""
    text = " ".join(value.split())
    try:
        if "=?" in text and len(text) <= _MAX_FIELD:
            return str(make_header(decode_header(text)))
        return text.encode("latin-1").decode()
    except (HeaderParseError, LookupError, NotBase64, UnicodeError, ValueError):
        return text


def _is_deleted(fields: list[tuple[str, str]]) -> bool:
    status = next((match for name, value in fields if name == _STATUS and (match := _HEX.match(value))), None)
    return status is not None and bool(int(status[1], 16) & DELETED)


def _text(fields: list[tuple[str, str]], body: str, reading: MailFlags) -> str:
    """A message without the fields that Thunderbird writes for itself."""
    return "\n".join([*(f"{name}: {value}" for name, value in fields if _counts(name, reading)), "", body])


def _counts(name: str, reading: MailFlags) -> bool:
    if name in {_STATUS, _STATUS_2}:
        return reading.status
    if name == _KEYS:
        return reading.keys
    return not _FROM_THUNDERBIRD.match(name)
