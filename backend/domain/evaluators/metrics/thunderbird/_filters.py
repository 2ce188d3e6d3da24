"""Reads Thunderbird's `msgFilterRules.dat`.

Source: Thunderbird's `nsMsgFilterList.cpp`, `nsMsgFilter.cpp` and `nsMsgSearchTerm.cpp`: lines `key="value"`; a filter
begins with its name; a value of an action follows it; quotes and backslashes are escaped. What this reader does not
know is kept as it is, so that a filter with it differs from one without.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

Term = tuple[str, ...]
"""(`AND` or `OR`, attribute, operator, value), (`ALL`,), or (`?`, text) for what cannot be read."""
Condition = tuple[Term, ...]
_LINE = re.compile(r'\s*(?P<key>\w+)\s*=\s*"(?P<value>.*)"\s*')
_ESCAPE = re.compile(r'\\(["\\])')
_TERM = re.compile(
    r"\s*(?P<joined>AND|OR)\s*\(\s*(?P<attribute>\"(?:[^\"\\]|\\.)*\"|[^,]*),(?P<operator>[^,]*),"
    r"(?:\s*\"(?P<quoted>(?:[^\"\\]|\\.)*)\"|(?P<value>.*?))\)(?=\s*(?:\Z|(?:AND|OR)\s*\())",
    re.DOTALL,
)
_ABOUT_FILE = frozenset({"version", "logging"})
_PLAIN = frozenset({"name", "enabled", "type"})
_WITHOUT_EFFECT = frozenset({"description"})


@dataclass
class MailFilter:
    """One filter.

    Attributes:
        values: `name`, `enabled`, `type`.
        actions: each with its value; None where it has none.
        condition: see `read_condition`.
        unknown: lines that this reader does not know.
    """

    values: dict[str, str]
    actions: list[tuple[str, str | None]] = field(default_factory=list)
    condition: Condition | None = None
    unknown: list[str] = field(default_factory=list)


def read_filters(text: str) -> list[MailFilter]:
    """All filters that have a condition; Thunderbird writes none without."""
    filters: list[MailFilter] = []
    for line in text.split("\n"):
        match = _LINE.fullmatch(line)
        key, value = (match["key"], _ESCAPE.sub(r"\1", match["value"])) if match else ("", line)
        if key == "name":
            filters.append(MailFilter({}))
        if filters and line.strip() and key not in _ABOUT_FILE:
            _add(filters[-1], key, value)
    return [mail_filter for mail_filter in filters if mail_filter.condition is not None]


def _add(current: MailFilter, key: str, value: str) -> None:
    if key in _PLAIN:
        current.values[key] = value
    elif key == "action":
        current.actions.append((value, None))
    elif key == "actionValue" and current.actions and current.actions[-1][1] is None:
        current.actions[-1] = (current.actions[-1][0], value)
    elif key == "condition" and current.condition is None:
        current.condition = read_condition([value])
    elif key not in _WITHOUT_EFFECT:
        current.unknown.append(f"{key}={value}" if key else value)


def read_condition(texts: Sequence[str]) -> Condition:
    """The terms of a condition in one form for all conditions that select the same messages.

    How the first term is joined has no effect, as nothing stands before it. Where all are joined alike they are sorted,
    as their order has none, either, and Thunderbird compares texts without regard to case.

    Args:
        texts: `ALL`, or texts of one or more terms such as `AND (subject,contains,sale)`.
    """
    terms = [term for text in texts for term in _terms(text)]
    if len({term[1:] for term in terms}) == 1 and len(terms[0]) > 2:  # noqa: PLR2004 - `ALL` and what cannot be read.
        return (("AND", *terms[0][1:]),)
    if len(terms) > 1 and len(terms[0]) > 2 and len(terms[1]) > 2:  # noqa: PLR2004 - as above.
        terms[0] = (terms[1][0], *terms[0][1:])
    alike = len({term[0] for term in terms}) == 1
    return tuple(sorted(set(terms))) if alike else tuple(terms)


def _terms(text: str) -> list[Term]:
    if text.strip() == "ALL":
        return [("ALL",)]
    terms: list[Term] = []
    position = 0
    while match := _TERM.match(text, position):
        value = match["quoted"] if match["quoted"] is not None else _bare(match["value"])
        compared = (_bare(match["attribute"]), match["operator"].strip(), value)
        terms.append((match["joined"], *(name.lower() for name in compared)))
        position = match.end()
    remainder = text[position:].strip()
    return [*terms, ("?", remainder)] if remainder or not terms else terms


def _bare(text: str) -> str:
    """Without blanks at the ends and quotes around."""
    text = text.strip()
    quoted = len(text) > 1 and text[0] == text[-1] == '"'
    return text[1:-1] if quoted else text
