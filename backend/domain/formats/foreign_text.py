"""Text of guests, models and task files, made fit for what it is written into: XML, CSV, terminals, logs."""

import re
from typing import Any, TextIO

_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # Controls; tab and line ends stay.
    "\u200e\u200f\u202a-\u202e\u2066-\u2069"  # Directions: what is read is not what is there.
    "\ud800-\udfff\ufffe\uffff]"  # Not in XML.
    "|\r(?!\n)"
)
_FORMULA = frozenset("=+-@\t\r")


def visible(text: str) -> str:
    r"""The text with unfit characters as escapes: `\x1b`. It fits into XML, and does nothing to a terminal."""
    return _UNFIT.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"  # noqa: PLR2004 - two digits.


def cell(value: Any) -> Any:
    """A value of a table: text is visible, and no formula to a spreadsheet; anything else stays."""
    if not isinstance(value, str):
        return value
    return f"'{visible(value)}" if value[:1] in _FORMULA else visible(value)


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
