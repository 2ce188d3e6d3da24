"""Rewrites rarer ways to write numbers as those that `text_numbers` reads.

Covers full-width and Arabic punctuation, TeX, HTML tags, comparison signs, written-out signs and scales, and Chinese,
Japanese and Korean texts without blanks. Powers of units (`m²`) are dropped.
"""

import re

SIGNS = "-+\N{MINUS SIGN}\N{SMALL HYPHEN-MINUS}\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH PLUS SIGN}\N{EN DASH}"
CURRENCIES = "$\u00a2-\u00a5\u058f\u060b\u09f2\u09f3\u0e3f\u20a0-\u20c0"
_MILLIONS = (
    *("million", "millions", "millionen", "millones", "milhões", "milioni", "miljoen", "miljonen", "mio", "mln", "млн"),
    *("миллион", "миллиона", "миллионов"),
)
_BILLIONS = (
    *("billion", "billions", "milliard", "milliards", "milliarde", "milliarden", "miliardi", "miljard", "mrd", "mld"),
    *("bilhões", "млрд", "миллиард", "миллиарда", "миллиардов"),
)
_THOUSANDS = (
    *("thousand", "thousands", "tausend", "tsd", "mille", "mila", "duizend", "tys", "тыс", "тысяч", "тысячи"),
)
SCALES = {
    "dozen": 12.0,
    "dutzend": 12.0,
    "hundred": 1e2,
    "lakh": 1e5,
    "lakhs": 1e5,
    "crore": 1e7,
    "crores": 1e7,
    **dict.fromkeys(_THOUSANDS, 1e3),
    **dict.fromkeys(_MILLIONS, 1e6),
    **dict.fromkeys(_BILLIONS, 1e9),
    **dict.fromkeys(("trillion", "trillions", "billionen"), 1e12),
}
"""Words behind a number that multiply it, and by how much."""
_EASTERN = {
    "百万": 1e6,
    "百萬": 1e6,
    "千万": 1e7,
    "千萬": 1e7,
    "万亿": 1e12,
    "萬億": 1e12,
    "万": 1e4,
    "萬": 1e4,
    "만": 1e4,
    "亿": 1e8,
    "億": 1e8,
    "억": 1e8,
}
"""The same where no blank parts them from the unit: `42万元`; longer ones first."""
_UNSURE = "百千十兆조천백"
"""Scales, or the beginning of a metric unit (`千克` is a kilogram)."""
_METRIC = "克米瓦卡赫升字伏帕焦公分"
_LETTERS = "\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
_DIGIT = "[\\d.]"
_SYMBOLS = str.maketrans(
    {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
    | dict(zip("。、「」『』《》〈〉【】\u3000", " " * 13, strict=True))
    | {0xFFE0: "¢", 0xFFE1: "£", 0xFFE5: "¥", 0xFFE6: "₩", "℃": "°C ", "℉": "°F "}
    | {"\N{ARABIC THOUSANDS SEPARATOR}": ",", "\N{ARABIC DECIMAL SEPARATOR}": ".", "\N{ARABIC PERCENT SIGN}": "%"}
)
_REWRITINGS = [
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"\\[dt]?frac\{(\d+)\}\{(\d+)\}", r"\1/\2"),
        (r"\\times(?![a-z])", "\N{MULTIPLICATION SIGN}"),
        (r"\\cdot(?![a-z])", "·"),
        (r"\\[,;:!](?=\d)", "\u2009"),
        (r"\\([%$#&_])", r"\1"),
        (rf"\^(?:\(([{SIGNS}]?\d+)\)|\{{([{SIGNS}]?\d+)\}})", r"^\1\2"),
        (r"</?[a-z][^<>]*>", " "),
        (r"(?:<=?|(?<![-=<>])(?:(?<!\A)(?<!\n)>=?|>=?(?=\S))|[≤≥≠≪≫√∛])\s*\(?(?=[^\s\w]?\d)", " ≠"),
        (r"(?<![^\W_])(sqrt|cbrt|log|ln|exp|sin|cos|tan)[(\s]\s*(?=[^\s\w]?\d)", r"\1_"),
        (rf"(?<![^\W_])(?:minus|negative|moins|menos|meno|минус)\s+(?={_DIGIT})", "-"),
        (rf"(?:[负負]|マイナス|마이너스)\s*(?={_DIGIT})", " -"),
        (rf"(?<![\w)\]])([{SIGNS}])\(\s*(?={_DIGIT})", r"\1"),
        (rf"(?<=[{_LETTERS}])(?<!第)(?=[{SIGNS}{CURRENCIES}]?{_DIGIT})", " "),
        (r"(?<=\d)\s?(?:[kcdmnµμ]?m|ft|in|yd|mi|s)(?:⁻?[²³]|\^-?[23])(?![\d^])", ""),
        (r"(?<=[^\W\d])[—―]|[—―](?!\d)|[\u2018\u201a\u2039\u203a]|\u2019(?!\d)", " "),
    )
]


def plain_form(text: str) -> str:
    """The text with its numbers in the usual form; an expression that is not a plain number gets a sign or `_`."""
    text = text.translate(_SYMBOLS)
    for pattern, replacement in _REWRITINGS:
        text = pattern.sub(replacement, text)
    return text


def scale_of(unit: str) -> float | None:
    """The factor of the letters behind a number: 1 for a unit; None if it could be either."""
    if unit.lower() in SCALES:
        return SCALES[unit.lower()]
    eastern = next((factor for name, factor in _EASTERN.items() if unit.startswith(name)), None)
    if eastern is None and unit.startswith(tuple(_UNSURE)) and not unit[1:].startswith(tuple(_METRIC)):
        return None
    return 1.0 if eastern is None else eastern
