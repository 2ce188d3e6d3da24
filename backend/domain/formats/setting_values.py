"""Parses values of settings in programs' output."""

import re

from backend.domain.formats.json_values import number_of

_TYPED = re.compile(r"^(?:u?int(?:16|32|64)|byte|double|handle|objectpath|@\S+) ")


def plain_value(text: str) -> str:
    """A printed value without type and quotes: `uint32 5` is `5`, `'dark'` is `dark`."""
    value = _TYPED.sub("", text.strip())
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1] if quoted else value


def same(actual: str, expected: str) -> bool:
    """Whether two values are equal: numbers by value, booleans ignoring case."""
    one, other = plain_value(actual), plain_value(expected)
    if {one.lower(), other.lower()} <= {"true", "false"}:
        return one.lower() == other.lower()
    try:
        return number_of(one) == number_of(other)
    except ValueError:
        return one == other and one.lower() != "nan"
