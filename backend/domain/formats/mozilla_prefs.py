"""Reads `prefs.js` as Mozilla's programs do: their own small grammar, not JavaScript.

Source: `modules/libpref/parser` of Firefox, on which Thunderbird rests. A statement with an error sets nothing; reading
goes on behind the next semicolon.
"""

import re
from collections.abc import Iterator

MAX_TEXT = 4 * 2**20  # characters, read at about two million tokens per second
PrefValue = bool | int | str
Token = tuple[str, str]
"""Kind (`word`, `number`, `text`, `sign` or `error`) and content."""
_SPACE = r"(?:\s+|\#[^\n]*|//[^\n]*|/\*.*?(?:\*/|\Z))+"
_TEXT = r'"[^"\\]*(?:\\(?:.|\Z)[^"\\]*)*(?:"|\Z)|' r"'[^'\\]*(?:\\(?:.|\Z)[^'\\]*)*(?:'|\Z)"
_TOKEN = re.compile(
    rf"(?P<space>{_SPACE})|(?P<text>{_TEXT})|(?P<word>[A-Za-z_]+)|(?P<number>[0-9]+(?![A-Za-z_0-9]))|(?P<sign>[-+(),;])"
    r"|(?P<error>.[^\s;\"'/\#]*)",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\"'\\nr])|(.?))", re.DOTALL)
_SPECS = frozenset({"user_pref", "pref", "sticky_pref"})
_LONGEST = 8  # tokens of a statement without its semicolon; a longer one is an error whatever it says
_MAX_INT = 2**31


def read_prefs(text: str) -> dict[str, PrefValue] | None:
    """The settings that a file sets, the last value of each; None if it is longer than MAX_TEXT."""
    if len(text) > MAX_TEXT:
        return None
    prefs: dict[str, PrefValue] = {}
    for statement in _statements(text):
        setting = _setting(statement)
        if setting is not None:
            prefs[setting[0]] = setting[1]
    return prefs


def _statements(text: str) -> Iterator[list[Token]]:
    statement: list[Token] = []
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        if kind == "sign" and match[0] == ";":
            yield statement
            statement = []
        elif kind != "space" and len(statement) <= _LONGEST:
            statement.append((kind, match[0]))


def _setting(tokens: list[Token]) -> tuple[str, PrefValue] | None:
    """Name and value of a statement; None if it is in error."""
    if len(tokens) < _LONGEST - 2 or tokens[0][0] != "word" or tokens[0][1] not in _SPECS:
        return None
    signs = (tokens[1], tokens[3], tokens[-1])
    if signs != (("sign", "("), ("sign", ","), ("sign", ")")) or tokens[2][0] != "text":
        return None
    name, value = _unquote(tokens[2][1]), _value(tokens[4:-1])
    return None if name is None or value is None else (name, value)


def _value(tokens: list[Token]) -> PrefValue | None:
    match tokens:
        case [("text", text)]:
            return _unquote(text)
        case [("word", "true" | "false" as word)]:
            return word == "true"
        case [("number", digits)]:
            return _whole(digits, _MAX_INT - 1)
        case [("sign", "+"), ("number", digits)]:
            return _whole(digits, _MAX_INT - 1)
        case [("sign", "-"), ("number", digits)]:
            number = _whole(digits, _MAX_INT)
            return None if number is None else -number
    return None


def _whole(digits: str, most: int) -> int | None:
    plain = digits.lstrip("0") or "0"
    return int(plain) if len(plain) <= len(str(most)) and int(plain) <= most else None


def _unquote(text: str) -> str | None:
    """A text without quotes and escapes; None if it has no end, an unknown escape, a NUL or half a character."""
    inner = text[1:-1]
    escapes = list(_ESCAPE.finditer(inner))
    ends = len(text) > 1 and text[-1] == text[0] and (not escapes or escapes[-1].end() <= len(inner))
    if not ends or any(escape[4] is not None for escape in escapes):
        return None
    plain = _ESCAPE.sub(_character, inner)
    try:
        plain = plain.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        return None
    return None if "\0" in plain else plain


def _character(escape: re.Match[str]) -> str:
    if escape[3] is not None:
        return {"n": "\n", "r": "\r"}.get(escape[3], escape[3])
    return chr(int(escape[1] or escape[2], 16))
