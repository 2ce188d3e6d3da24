"""Reports of the set-up scripts over the machine's serial port: lines of JSON, bounded and not trusted."""

import json
from typing import NamedTuple

_PREFIX = b"deskarena "
_MOST_LINE = 16_384
_MOST_TEXT = 2000


class StageReport(NamedTuple):
    """One line: `begin`, `kept`, `done` or `failed` of a stage, or `phase`, the end of a group of stages."""

    kind: str
    stage: str
    text: str

    def line(self) -> str:
        """Text for the log."""
        return f"  Windows: {self.stage} {self.kind}{f': {self.text}' if self.text else ''}"


class Reports:
    """Extracts reports from the serial port; output of firmware and boot loaders is ignored."""

    def __init__(self) -> None:
        self._buffer = b""

    def feed(self, data: bytes) -> list[StageReport]:
        """Reports that are complete so far."""
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        self._buffer = self._buffer[-_MOST_LINE:]
        return [report for line in lines if (report := _read(line)) is not None]


def _read(line: bytes) -> StageReport | None:
    _, prefix, report = line.rpartition(_PREFIX)
    if not prefix or len(line) > _MOST_LINE:
        return None
    try:
        facts = json.loads(report)
    except (ValueError, RecursionError):
        return None
    if not isinstance(facts, dict):
        return None
    text = " ".join(_plain(facts[key]) for key in ("error", "at", "seconds") if key in facts)
    stage = _plain(facts.get("stage", facts.get("phase", "")))
    return StageReport(kind=_plain(facts.get("kind", "")), stage=stage, text=text)


def _plain(value: object) -> str:
    """One line of printable text."""
    words = " ".join(str(value)[:_MOST_TEXT].split())
    return "".join(character if character.isprintable() else "?" for character in words)
