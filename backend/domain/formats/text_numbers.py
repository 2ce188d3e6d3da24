"""Reads the numbers in a text.

A number may have a sign (also U+2212), thousands separators, an exponent, a power (`10^3`, `5*10²`), a fraction (`1/2`,
`3 1/2`, `½`), a currency, a unit or a scale word (`42 million`); `number_forms` has rarer ways to write them. Digits in
any other form, or that could be several numbers, are ambiguous: `42,5`, `10 000`, `1.2.3`, `10-20`, `10:30`, `A4`,
`42k`, `>42`, `sqrt(42)`.
"""

import math
import re
import unicodedata
from collections.abc import Iterator

from backend.domain.formats.number_forms import CURRENCIES, SCALES, SIGNS, plain_form, scale_of

MAX_TEXT = 2**20  # characters
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_TIMES = "*\N{MULTIPLICATION SIGN}·"
_VULGAR = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒"
_NO_UNITS = frozenset({"b", "bn", "d", "e", "g", "k", "m", "mil", "mn", "nd", "p", "rd", "st", "t", "th", "x"})
"""Ordinals, multipliers and the like: the digits before are not the number that is meant."""
_JOIN = re.compile(
    rf"(?<=[\d.])\s*(\*\*|[{_TIMES}^/])\s*(?=[\d.])|(?<=\d)\s*([xX])\s*(?=10[\^*⁰¹²³⁴-⁹⁻⁺])"
    rf"|(?<=\d)\s+(?=\d+/\d|(?i:{'|'.join(SCALES)}|bn|mn)\b|k\b|[百千万萬亿億만억])"
)
"""Characters that belong to a number on both its sides, in spite of blanks."""
_BLANK_BETWEEN_GROUPS = re.compile(r"(?<![\d.,'])([1-9]\d{0,2})((?: \d{3})+)(?![\d.,'])")
_MINUS_APART = re.compile("(?<![\\d)\\]])(\\s|^)\N{MINUS SIGN}\\s+(?=[\\d.])")
"""A minus before a number, not between two."""
_FRACTION_BARS = str.maketrans("\N{FRACTION SLASH}\N{DIVISION SLASH}", "//") | dict.fromkeys(
    (*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFEFF, 0x00AD)
)
"""Fraction bars as slashes; marks of direction and the like, which do not show, are dropped."""
_SPACE_BETWEEN_GROUPS = re.compile("(?<=\\d)[\u00a0\u202f\u2009\u2019'](?=\\d{3}(?!\\d))")
_APART = re.compile(r"[,:;](?!\d)|(?<!\d)[,:;]|[=()\[\]{}<>|\"“”„«»!?]|(?<=\d)[/-](?=[^\W\d])|\.{2,}|…")
_PLAIN = (
    r"(?:[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d?(?:,\d\d)+,\d{3}|[1-9]\d{0,2}(?:'\d{3})+|\d+)(?:\.\d*)?(?:[eE]SIGN?\d+)?"
    r"|\.\d+(?:[eE]SIGN?\d+)?"
).replace("SIGN", f"[{SIGNS}]")
_POINTS = r"[1-9]\d{0,2}(?:(?:\.\d{3}){2,}|(?:[.']\d{3})+,\d+)"  # 1.234.567 and 1.234,5
_NUMBER = re.compile(
    rf"[*_`'~#≈]*(?P<sign>[{SIGNS}])?(?:[A-Z]{{0,3}}[{CURRENCIES}](?P<inner>[{SIGNS}])?)?"
    rf"(?:(?P<factor>{_PLAIN})[{_TIMES}xX](?=10[\^*⁰¹²³⁴-⁹⁻⁺]))?"
    rf"(?:(?P<whole>\d+)\+(?=\d+/\d))?(?:(?P<points>{_POINTS})|(?P<plain>{_PLAIN}))?(?P<vulgar>[{_VULGAR}])?"
    rf"(?:/(?P<below>\d+)|(?:\^|\*\*)(?P<power>[{SIGNS}]?\d+)|(?P<super>[⁻⁺]?[⁰¹²³⁴-⁹]+))?"
    rf"(?P<unit>[^\W\d_]*)(?:/[^\W\d_]+)?[%‰°{CURRENCIES}]*[A-Z]?['*_`.~]*"
)


def numbers_in(text: str) -> Iterator[float | None]:
    """The numbers of a text in their order; None for digits that are not a number or an ambiguous one.

    The rest of a text that is longer than MAX_TEXT is one of these.
    """
    longer = len(text) > MAX_TEXT
    text = _SPACE_BETWEEN_GROUPS.sub("'", plain_form(text[:MAX_TEXT].translate(_FRACTION_BARS)))
    text = _MINUS_APART.sub("\\1-", text)
    text = _JOIN.sub(_join_digits, text)
    text = _BLANK_BETWEEN_GROUPS.sub(lambda match: match[0].replace(" ", "_"), text)
    for word in _APART.sub(" ", text).split():
        if word.isnumeric() or any(letter.isnumeric() and not letter.isalpha() for letter in word):
            yield _number(word)
    if longer:
        yield None


def _join_digits(match: re.Match[str]) -> str:
    return match[1] or match[2] or ("+" if match.string[match.end()].isdigit() else "")


def _number(word: str) -> float | None:
    match = _NUMBER.fullmatch(word)
    if match is None or match["unit"].lower() in _NO_UNITS or (match["sign"] and match["inner"]):
        return None
    scale = scale_of(match["unit"])
    if scale is None:
        return None
    try:
        value = _value(match) * scale
    except (ValueError, OverflowError, ZeroDivisionError):
        return None
    if not math.isfinite(value):
        return None
    sign = match["sign"] or match["inner"]
    return -value if sign and _sign(sign) == "-" else value


def _value(match: re.Match[str]) -> float:
    """Raises ValueError if there are no digits, or OverflowError and ZeroDivisionError."""
    base = 0.0
    if match["points"]:
        base = float(match["points"].replace(".", "").replace("'", "").replace(",", "."))
    elif match["plain"]:
        base = float(_ascii(match["plain"]))
    elif not match["vulgar"]:
        raise ValueError("no digits")
    if match["vulgar"]:
        base += unicodedata.numeric(match["vulgar"])
    if match["below"]:
        base = float(match["whole"] or 0) + base / float(match["below"])
    power = match["power"] or (match["super"] or "").translate(_SUPERSCRIPTS)
    base = base ** int(_ascii(power)) if power else base
    return base * float(_ascii(match["factor"])) if match["factor"] else base


def _ascii(text: str) -> str:
    return "".join(_sign(letter) if letter in SIGNS else letter for letter in text if letter not in ",'")


def _sign(letter: str) -> str:
    return "+" if letter in "+\N{FULLWIDTH PLUS SIGN}" else "-"
