"""Documents with one train per line: time, train, station, platform, separated by commas."""

from collections import Counter
from typing import TYPE_CHECKING

from backend.domain.formats.documents import texts

if TYPE_CHECKING:
    from docx.document import Document

_FIELDS = 4


def lines(document: "Document") -> list[str]:
    """The non-empty lines."""
    return [text.strip() for text in texts(document) if text.strip()]


def trains(document: "Document") -> Counter[str]:
    """Number of occurrences of each train."""
    return trains_of(lines(document))


def trains_of(records: list[str]) -> Counter[str]:
    """Number of occurrences of each train; a line without four fields is skipped."""
    fields = [line.split(",") for line in records]
    return Counter(line[1].strip() for line in fields if len(line) == _FIELDS)
