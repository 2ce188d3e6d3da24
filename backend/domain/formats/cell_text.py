"""Shows the values of cells by their number formats, as English versions of spreadsheets do.

Source: ECMA-376 part 1, 18.8.31. Blanks as wide as a character are blanks, fillings are left out.
"""

import re
import sys
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

from backend.domain.formats._cell_dates import date_text, iso_text
from backend.domain.formats.cell_styles import is_date_format
from backend.domain.formats.sheet import Value

_TOKEN = re.compile(
    r"""(?P<literal>"[^"]*"?|\\.|_.)|(?P<fill>\*.)|\[(?P<bracket>[^\]]*)\]|(?P<general>General)|(?P<exponent>E[-+])
    |(?P<digit>[0\#?])|(?P<sign>[.,%/@])|(?P<other>.)""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_SECTION = re.compile(r'(?:"[^"]*"?|\\.|_.|\*.|\[[^\]]*\]|[^;"])*', re.DOTALL)
_CONDITION = re.compile(r"\[(<=|>=|<>|<|>|=)(-?(?:[0-9]+\.?[0-9]*|\.[0-9]+))\]")
_LOCAL = {"mm-dd-yy": "m/d/yyyy", "m/d/yy h:mm": "m/d/yyyy h:mm"}
"""Built-in formats that follow the system's settings."""
_WIDTH, _LEAST_WHOLE, _SMALLEST = 11, 1e11, 1e-9
_LONGEST_FORMAT = 255
"""Excel's limit. A longer format changes nothing of what is shown."""
_EXACT = Context(prec=1000)
"""Enough for any number and format."""
_DEFAULT = "General"
Token = tuple[str, str]
"""Its kind and its text."""


def cell_texts(value: Value, code: str, *, epoch_1904: bool = False) -> list[str]:
    """The text that a cell shows, first; then that of its stored value, a date by ISO 8601, if it differs."""
    if value is None:
        return []
    code = code if len(code) <= _LONGEST_FORMAT else _DEFAULT
    if isinstance(value, bool):
        return ["TRUE" if value else "FALSE"]
    if isinstance(value, str):
        sections = _sections(code)
        text_section = sections[3] if len(sections) > 3 else code if "@" in code and len(sections) == 1 else ""  # noqa: PLR2004 - the fourth.
        return list(dict.fromkeys([_with_text(value, text_section) if text_section else str(value), str(value)]))
    stored = str(value) if isinstance(value, int) or not value.is_integer() else str(int(value))
    if not abs(value) <= sys.float_info.max:  # Files may hold such numbers, which no spreadsheet has.
        return [stored]
    codes = [code, _LOCAL[code]] if code in _LOCAL else [code]
    texts = [_format_number(value, one, epoch_1904=epoch_1904) for one in codes]
    if is_date_format(code):
        texts.append(iso_text(value, epoch_1904=epoch_1904))
    return [text for text in dict.fromkeys([*texts, stored]) if text]


def canonical_format(code: str) -> str:
    r"""A number format in one spelling: of quotes and escapes, letter case, currencies, and parts that change nothing.

    LibreOffice writes `yyyy-mm-dd` as `yyyy\-mm\-dd`, Excel `$0` as `"$"0` or `[$$-409]0`.
    """
    if len(code) > _LONGEST_FORMAT:
        return code
    sections = ["".join(map(_canonical, _tokens(section))) for section in _sections(_LOCAL.get(code, code))]
    if len(sections) > 1 and sections[-1] == "@":
        sections.pop()
    if len(sections) == 2 and sections[1] == f"\\-{sections[0]}":  # noqa: PLR2004 - positive and negative numbers.
        sections.pop()
    return ";".join(sections)


def _canonical(token: Token) -> str:
    kind, text = token
    if kind == "other" and text.isascii() and text.isalpha():
        return text.lower()
    if kind in {"literal", "other"} and not text.startswith("_"):
        return "".join(f"\\{letter}" for letter in _literal(token))
    if kind == "bracket":
        is_locale = text.startswith("[$")
        return "".join(f"\\{letter}" for letter in _literal(token)) if is_locale else text.lower()
    return _DEFAULT if kind == "general" else text.upper()


def _format_number(value: float, code: str, *, epoch_1904: bool) -> str:
    if code.lower() == _DEFAULT.lower():
        return _general(value)
    section, signed = _section_for(value, _sections(code))
    if is_date_format(section):
        return date_text(value, section, epoch_1904=epoch_1904)
    number = _number_text(abs(value), _tokens(section))
    is_zero = not any(digit in number for digit in "123456789")
    return f"-{number}" if signed and value < 0 and not is_zero else number


def _sections(code: str) -> list[str]:
    sections: list[str] = []
    at = 0
    while at <= len(code) and len(sections) < 4:  # noqa: PLR2004 - there are no more.
        match = _SECTION.match(code, at)
        sections.append(match[0] if match else "")
        at += len(sections[-1]) + 1
    return sections


def _section_for(value: float, sections: Sequence[str]) -> tuple[str, bool]:
    """The section for a number, and whether a negative number still needs its sign."""
    conditions = [_CONDITION.search(section) for section in sections[:2]]
    if any(conditions):
        for section, condition in zip(sections, conditions, strict=False):
            if condition is not None and _holds(value, condition[1], float(condition[2])):
                return section, True
        rest = [
            section for section, condition in zip(sections, [*conditions, None, None], strict=False) if not condition
        ]
        return (rest or sections)[0], True
    if len(sections) > 2 and value == 0:  # noqa: PLR2004 - the third is for zero.
        return sections[2], False
    return (sections[1], False) if len(sections) > 1 and value < 0 else (sections[0], True)


def _holds(value: float, sign: str, limit: float) -> bool:
    return {
        "<": value < limit, "<=": value <= limit, ">": value > limit, ">=": value >= limit,
        "=": value == limit, "<>": value != limit,
    }[sign]  # fmt: skip


def _tokens(section: str) -> list[Token]:
    return [(str(match.lastgroup), match[0]) for match in _TOKEN.finditer(section)]


def _literal(token: Token) -> str:
    """What a token shows that stands for no digit."""
    kind, text = token
    if kind == "literal":
        return text.strip('"') if text.startswith('"') else " " if text.startswith("_") else text[1:]
    if kind == "bracket":
        return text[2:-1].partition("-")[0] if text.startswith("[$") else ""
    return text if kind == "other" or text == "%" else ""


def _with_text(value: str, section: str) -> str:
    return "".join(value if token[1] == "@" else _literal(token) for token in _tokens(section))


def _general(value: float) -> str:
    """A number in at most eleven characters."""
    size = abs(value)
    if value == 0 or _SMALLEST <= size < _LEAST_WHOLE:
        digits = max(0, _WIDTH - 1 - len(str(int(size))))
        text = f"{value:.{digits}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    mantissa, _, power = f"{value:.5E}".partition("E")
    return f"{mantissa.rstrip('0').rstrip('.')}E{power[0]}{power[1:].zfill(2)}"


def _number_text(value: float, tokens: list[Token]) -> str:
    signs = [text for kind, text in tokens if kind == "sign"]
    if "/" in signs:
        return _fraction_text(value, tokens)
    if any(kind == "general" for kind, _ in tokens):
        return "".join(_general(value) if token[0] == "general" else _literal(token) for token in tokens)
    return (
        _decimal_text(value, tokens) if any(kind == "digit" for kind, _ in tokens) else "".join(map(_literal, tokens))
    )


def _decimal_text(value: float, tokens: list[Token]) -> str:
    """A number by the places for its digits: before the point, behind it, and of the exponent."""
    digits = [at for at, (kind, _) in enumerate(tokens) if kind == "digit"]
    power = next((at for at, (kind, _) in enumerate(tokens) if kind == "exponent"), len(tokens))
    point = next((at for at, token in enumerate(tokens) if token == ("sign", ".")), power)
    whole_at, rest_at = [at for at in digits if at < point], [at for at in digits if point < at < power]
    commas = [at for at, token in enumerate(tokens) if token == ("sign", ",")]
    last = whole_at[-1] if whole_at else -1
    number = Decimal(repr(float(value))) * 100 ** tokens.count(("sign", "%")) / 1000 ** sum(at > last for at in commas)
    exponent = _exponent(number, max(1, len(whole_at))) if power < len(tokens) else 0
    rounded = number.scaleb(-exponent).quantize(Decimal(1).scaleb(-len(rest_at)), ROUND_HALF_UP, _EXACT)
    whole, _, rest = f"{rounded:f}".partition(".")
    shown = _whole_digits(whole, [tokens[at][1] for at in whole_at], grouped=any(at < last for at in commas))
    shown_at = dict(zip(whole_at or [point], shown, strict=True))
    shown_at |= dict(zip(rest_at, _rest_digits(rest, [tokens[at][1] for at in rest_at]), strict=True))
    if point < power:
        shown_at[point] = shown_at.get(point, "") + "."
    if power < len(tokens):
        behind = [at for at in digits if at > power]
        sign = "-" if exponent < 0 else "+" if tokens[power][1].endswith("+") else ""
        shown_at |= dict.fromkeys(behind, "") | {power: f"E{sign}{str(abs(exponent)).zfill(len(behind))}"}
    return "".join(shown_at[at] if at in shown_at else _literal(token) for at, token in enumerate(tokens))


def _exponent(number: Decimal, step: int) -> int:
    """The power of ten of scientific notation: a multiple of the number of digits before the point."""
    return number.adjusted() // step * step if number else 0


def _whole_digits(whole: str, places: Sequence[str], *, grouped: bool) -> list[str]:
    """The digits at each place; further ones are at the first."""
    least = len(places) - places.index("0") if "0" in places else 0
    digits = whole.lstrip("0").zfill(least)
    digits = digits if places or digits else ""
    parts = [
        digit + ("," if grouped and left > 0 and left % 3 == 0 else "")
        for left, digit in zip(range(len(digits) - 1, -1, -1), digits, strict=True)
    ]
    surplus = len(parts) - max(1, len(places))
    if surplus > 0:
        parts[: surplus + 1] = ["".join(parts[: surplus + 1])]
    return [""] * (max(1, len(places)) - len(parts)) + parts


def _rest_digits(rest: str, places: Sequence[str]) -> list[str]:
    """The digits behind the point; zeros at the end only where a place asks for them."""
    shown = list(rest)
    for at in range(len(places) - 1, -1, -1):
        if places[at] == "0" or shown[at] != "0":
            break
        shown[at] = "" if places[at] == "#" else " "
    return shown


def _fraction_text(value: float, tokens: list[Token]) -> str:
    code = "".join(text for kind, text in tokens if kind in {"digit", "sign"} or text.isdigit() or text == " ")
    before, _, below = code.partition("/")
    fixed = below.strip()
    exact = Fraction(repr(float(value)))
    whole = int(exact) if " " in before.strip() else 0
    if fixed.isascii() and fixed.isdigit() and int(fixed):
        top, bottom = round((exact - whole) * int(fixed)), int(fixed)
    else:
        top, bottom = (exact - whole).limit_denominator(10 ** min(9, max(1, len(fixed))) - 1).as_integer_ratio()
    if " " in before.strip() and top == bottom:
        whole, top = whole + 1, 0
    parts = [str(whole)] if whole or not top else []
    return " ".join([*parts, f"{top}/{bottom}"] if top else parts or ["0"])
