"""Reads messages from Thunderbird's folder files (mbox) and from single messages (.eml).

Source: RFC 4155 for the form; Thunderbird's own header fields as its source names them (`nsMsgMessageFlags.h`).
"""

import re
from dataclasses import dataclass
from pathlib import Path

MAX_BYTES = 64 * 2**20
_START = re.compile(r"(?:\A|\n)From(?: [^\n]*)?\n")
_STATUS = re.compile(r"^X-Mozilla-Status:\s*([0-9a-fA-F]{1,8})", re.MULTILINE)
_KEPT_BY_THUNDERBIRD = re.compile(r"^(?:X-Mozilla-(?!Status|Keys)[\w-]*|X-Account-Key|X-UIDL):", re.IGNORECASE)
_STATUS_FIELD = re.compile(r"^X-Mozilla-Status2?:", re.IGNORECASE)
_KEYS_FIELD = re.compile(r"^X-Mozilla-Keys:", re.IGNORECASE)
DELETED = 0x0008


@dataclass(frozen=True)
class MailFlags:
    """Which of Thunderbird's marks count. `deleted`: whether messages marked as deleted count as existing."""

    status: bool = False
    keys: bool = False
    deleted: bool = False


def messages(path: str | None, reading: MailFlags) -> tuple[list[str] | None, str]:
    """The messages' texts, or the reason why there are none. An empty file is an empty folder."""
    if path is None or not Path(path).is_file():
        return None, "the folder's file is not there"
    if Path(path).stat().st_size > MAX_BYTES:
        return None, f"the folder's file is larger than {MAX_BYTES // 2**20} MiB"
    text = Path(path).read_bytes().decode("latin-1").replace("\r\n", "\n")
    parts = [part for part in _START.split(text) if part.strip()]
    return [_normal(part, reading) for part in parts if reading.deleted or not _is_deleted(part)], ""


def _is_deleted(message: str) -> bool:
    match = _STATUS.search(message.partition("\n\n")[0])
    return match is not None and bool(int(match[1], 16) & DELETED)


def _normal(message: str, reading: MailFlags) -> str:
    """A message without Thunderbird's own fields and without trailing white space."""
    head, _, body = message.strip().partition("\n\n")
    fields = [line.rstrip() for line in head.split("\n") if _counts(line, reading)]
    lines = [line.rstrip() for line in body.split("\n")]
    return "\n".join([*fields, "", *lines]).strip()


def _counts(line: str, reading: MailFlags) -> bool:
    if _STATUS_FIELD.match(line):
        return reading.status
    if _KEYS_FIELD.match(line):
        return reading.keys
    return not _KEPT_BY_THUNDERBIRD.match(line)
