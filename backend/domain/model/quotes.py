"""Tells whether a part of a model's text lies within quotes: what a model quotes or types is not its own mark."""

import re

NEAR = 1_000
"""Characters before and after a part in which its line is looked for, so that a text without lines costs little."""
_QUOTE = re.compile(r"```|\\.|(?<=\w)'(?=\w)|(?P<quote>[\"']|`(?!\s))", re.DOTALL)
"""A quote that is not an apostrophe or a backtick by itself, and not escaped."""
_BEFORE_OPENING = re.compile(r"(?:\A|\W|(?:\A|\W)[rbuf]{1,2})\Z", re.IGNORECASE)
"""A quote opens after a blank or a bracket, or after the prefix of a text in code: `15"` and `users'` open none."""


def is_quoted(text: str, start: int, end: int) -> bool:
    """Whether a part lies within quotes of its line; not if the line is too long to tell."""
    begin = max(0, start - NEAR)
    _, line_end, before = text[begin:start].rpartition("\n")
    if begin and not line_end:
        return False
    quote = _open_quote(before)
    return bool(quote) and quote in text[end : end + NEAR].partition("\n")[0]


def _open_quote(line: str) -> str:
    """The quote that is open at the end of the beginning of a line; empty without one."""
    opened = ""
    for match in _QUOTE.finditer(line):
        quote = match["quote"]
        if quote and opened:
            opened = "" if quote == opened else opened
        elif quote and _BEFORE_OPENING.search(line[max(0, match.start() - 3) : match.start()]):
            opened = quote
    return opened
