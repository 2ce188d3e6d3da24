"""Compares the contents of two e-books, metadata and HTML chapters, line by line."""

import difflib
import zipfile
from collections import Counter

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short
from backend.domain.formats.failures import let_through
from backend.domain.formats.packages import DAMAGE, check_archive

MAX_MEMBER = 16 * 2**20
MAX_TOTAL = 64 * 2**20
MAX_LINES = 20_000
MAX_PAIRS = 20 * 10**6
Book = dict[str, list[str]]
"""Lines by name of the member."""
PASSING_OVER = {"toc.ncx": "navPoint", "content.opf": "dc:identifier"}
"""By member, a word whose lines are ignored: identifiers that each converter generates."""


def gold(path: str | None) -> Book:
    """The expected book. Raises EvaluatorFailed if it cannot be read or has nothing to compare."""
    book, reason = read_book(path)
    if not book:
        raise EvaluatorFailed(f"expected book: {reason or 'nothing in it can be compared'}", code="invalid_reference")
    return book


def read_book(path: str | None) -> tuple[Book, str]:
    """The relevant members, or the reason why there are none."""
    reason = check_archive(path)
    if reason:
        return {}, reason.replace("office document", "electronic book")
    book, total = Book(), 0
    try:
        with zipfile.ZipFile(str(path)) as package:
            for member in package.infolist():
                kind = member.filename.rsplit("/", 1)[-1]
                if kind not in PASSING_OVER and not kind.endswith(".html"):
                    continue
                total += member.file_size
                if member.file_size > MAX_MEMBER or total > MAX_TOTAL:
                    return {}, f"{short(member.filename)} is too large"
                book[member.filename] = _lines(kind, package.read(member).decode(errors="replace"))
    except DAMAGE as error:
        let_through(error)
        return {}, f"the book is damaged: {type(error).__name__}"
    return book, "" if book else "nothing in the book can be compared"


def _lines(kind: str, text: str) -> list[str]:
    if kind in PASSING_OVER:
        return [line for line in text.splitlines() if PASSING_OVER[kind] not in line]
    return html_lines(text.replace("\n", "").replace("\r", ""))


def html_lines(text: str) -> list[str]:
    """The lines as printed by lxml, independent of the book's own line breaks."""
    import lxml.html
    from lxml import etree

    try:
        root = lxml.html.fromstring(text.encode())
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return []  # An empty chapter.
    return str(lxml.html.tostring(root, pretty_print=True, encoding="unicode")).splitlines()


def likeness(actual: list[str] | None, expected: list[str] | None) -> float:
    """2 x equal lines / all lines of both; 0 if one is missing or they are too large to compare."""
    if actual is None or expected is None:
        return 0.0
    if actual == expected:
        return 1.0
    counts = Counter(expected)
    if len(actual) > MAX_LINES + len(expected) or sum(counts[line] for line in actual) > MAX_PAIRS:
        return 0.0
    return difflib.SequenceMatcher(a=actual, b=expected).ratio()


def by_name(actual: Book, expected: Book) -> dict[str, float]:
    """The similarity of each member that either book has, by name."""
    return {name: likeness(actual.get(name), expected.get(name)) for name in sorted({*actual, *expected})}


def by_place(actual: Book, expected: Book) -> dict[str, float]:
    """As published: members are compared by position, whatever their names; surplus ones are ignored."""
    pairs = zip(sorted(actual), sorted(expected), strict=False)
    return {name: likeness(actual[name], expected[other]) for name, other in pairs}


def reasons(parts: dict[str, float]) -> tuple[str, ...]:
    """Descriptions of the differences."""
    differing = [f"{name[:100]}: {value:.3f} of the lines match" for name, value in parts.items() if value < 1]
    return tuple(differing[:15]) or (f"all {len(parts)} members match",)
