"""Text of guests, models and task files, made fit for what it is written into: XML, CSV, Markdown, terminals, logs.

No other module writes these: tests/architecture/test_foreign_text.py.
"""

import csv
import io
import logging
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from datetime import datetime
from types import TracebackType
from typing import Any, TextIO
from xml.etree.ElementTree import Element, indent, tostring

_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # Controls; tab and line ends stay.
    "\u200e\u200f\u202a-\u202e\u2066-\u2069"  # Directions: what is read is not what is there.
    "\ud800-\udfff\ufffe\uffff]"  # Not in XML.
    "|\r(?!\n)"
)
_LINE_ENDS = re.compile("[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_FORMULA = frozenset("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")  # The last four are wide forms, which some programs take.
_MARKDOWN = re.compile(r"[\\`*_\[\]<>|~#!&$:]|(?<=www)\.", re.IGNORECASE)
_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def visible(text: str) -> str:
    r"""The text with unfit characters as escapes: `\x1b`. It fits into XML, and does nothing to a terminal."""
    return _UNFIT.sub(_escape, text)


def one_line(text: str) -> str:
    r"""Like `visible`, with line ends as escapes: text from a guest cannot begin a line of a log."""
    return _LINE_ENDS.sub(_escape, visible(text))


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"  # noqa: PLR2004 - two digits.


def cell(value: Any) -> Any:
    """A value of a table: text is visible, and no formula to a spreadsheet; times by ISO 8601; anything else stays."""
    if isinstance(value, datetime):
        return value.isoformat()
    if not isinstance(value, str):
        return value
    return f"'{visible(value)}" if value[:1] in _FORMULA else visible(value)


def csv_text(head: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table as CSV. Texts come from tasks and agents: none is interpreted as a formula."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(map(cell, head))
    writer.writerows([cell(value) for value in row] for row in rows)
    return out.getvalue()


def markdown(text: str) -> str:
    r"""The text on one line of Markdown, in which it formats, links, embeds and mentions nothing."""
    return _MARKDOWN.sub(r"\\\g<0>", " ".join(visible(text).split())).replace("@", "@\u200b")


def xml_document(root: Element) -> bytes:
    """The document with all its texts and attributes visible."""
    for element in root.iter():
        element.text = element.text and visible(element.text)
        for name, value in element.items():
            element.set(name, visible(value))
    indent(root)
    document: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return document


class VisibleStream:
    """A text stream that shows unfit characters. For everything else it is the stream that it writes to.

    Attributes:
        stream: for what a program writes itself, such as colours.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Returns how many characters were given, as streams do."""
        self.stream.write(visible(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def visible_streams() -> Iterator[None]:
    """Meanwhile everything that the program prints is visible."""
    with redirect_stdout(VisibleStream(sys.stdout)), redirect_stderr(VisibleStream(sys.stderr)):
        yield


class VisibleLogRecord(logging.LogRecord):
    """A log record that is one line, whatever its arguments contain; the lines of a traceback are indented."""

    def __init__(  # noqa: PLR0913, PLR0917 - the base's parameters
        self,
        name: str,
        level: int,
        pathname: str,
        lineno: int,
        msg: object,
        args: Any,
        exc_info: _ExcInfo | None,
        func: str | None = None,
        sinfo: str | None = None,
        **more: Any,
    ) -> None:
        super().__init__(name, level, pathname, lineno, msg, args, exc_info, func, sinfo, **more)
        if exc_info:
            self.exc_text = textwrap.indent(visible(logging.Formatter().formatException(exc_info)), "  ")

    def getMessage(self) -> str:  # noqa: N802 - the base's name
        return one_line(super().getMessage())


def make_logs_visible() -> None:
    """Makes every log record of this process visible, whatever handler or library writes it."""
    logging.setLogRecordFactory(VisibleLogRecord)
