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
    first, second = plain_value(actual), plain_value(expected)
    if {first.lower(), second.lower()} <= {"true", "false"}:
        return first.lower() == second.lower()
    try:
        return number_of(first) == number_of(second)
    except ValueError:
        return first == second and first.lower() != "nan"
