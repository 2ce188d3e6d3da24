"""Shows the numbers of days that cells store as dates, times and durations."""

import re
from datetime import datetime, timedelta

_TOKEN = re.compile(
    r"""(?P<literal>"[^"]*"?|\\.|_.|\*.)|\[(?P<elapsed>h+|m+|s+)\]|(?P<bracket>\[[^\]]*\])|(?P<half>AM/PM|A/P)
    |(?P<part>y+|m+|d+|h+|s+|e+)|(?P<fraction>\.0+)|(?P<other>.)""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DAY, _NOON = 86_400, 12
_LEAP_1900 = 60
_UNITS = {"h": 3600, "m": 60, "s": 1}


def iso_text(value: float, *, epoch_1904: bool) -> str:
    """A number of days as ISO 8601, with a time if it has one; empty if it is not a date."""
    moment = _moment(value, epoch_1904=epoch_1904, digits=0)
    if moment is None:
        return ""
    if value < 1:
        return f"{moment:%H:%M:%S}"
    return f"{moment:%Y-%m-%d}" if float(value).is_integer() else f"{moment:%Y-%m-%d %H:%M:%S}"


def date_text(value: float, code: str, *, epoch_1904: bool) -> str:
    """A number of days in a format of dates, times or durations, with English names."""
    tokens = [(str(match.lastgroup), match[0]) for match in _TOKEN.finditer(code)]
    digits = max([len(text) - 1 for kind, text in tokens if kind == "fraction"], default=0)
    moment = _moment(value, epoch_1904=epoch_1904, digits=digits)
    if moment is None:
        return "#" * 8
    seconds = round(value * _DAY, digits)
    halves = any(kind == "half" for kind, _ in tokens)
    shown, units = [], [text.strip("[]")[0].lower() if kind in {"part", "elapsed"} else "" for kind, text in tokens]
    for at, (kind, text) in enumerate(tokens):
        if kind == "part":
            minutes = units[at] == "m" and _is_minute(units, at)
            shown.append(f"{moment.minute:0{len(text)}}" if minutes else _part(moment, text.lower(), halves=halves))
        elif kind == "elapsed":
            shown.append(str(int(seconds // _UNITS[units[at]])).zfill(len(text) - 2))
        elif kind == "fraction":
            shown.append(f"{moment.microsecond / 1e6:.{len(text) - 1}f}"[1:])
        elif kind == "half":
            half = "AM" if moment.hour < _NOON else "PM"
            shown.append(half[0] if len(text) == len("A/P") else half)
        else:
            shown.append(_literal(kind, text))
    return "".join(shown)


def _moment(value: float, *, epoch_1904: bool, digits: int) -> datetime | None:
    """None before the first day and after the year 9999."""
    if value < 0:
        return None
    first = datetime(1904, 1, 1) if epoch_1904 else datetime(1899, 12, 31 if value < _LEAP_1900 else 30)  # noqa: DTZ001 - cells have no zone.
    try:
        return first + timedelta(seconds=round(value * _DAY, digits))
    except OverflowError:
        return None


def _is_minute(units: list[str], at: int) -> bool:
    """Whether `m` stands for minutes: behind hours or before seconds (18.8.31)."""
    before = next((unit for unit in reversed(units[:at]) if unit), "")
    after = next((unit for unit in units[at + 1 :] if unit), "")
    return before == "h" or after == "s"


def _part(moment: datetime, text: str, *, halves: bool) -> str:
    length = len(text)
    match text[0]:
        case "y":
            return f"{moment:%Y}" if length > 2 else f"{moment:%y}"  # noqa: PLR2004 - two digits.
        case "e":
            return f"{moment:%Y}"
        case "m":
            name = _MONTHS[moment.month - 1]
            return f"{moment.month:0{length}}" if length < 3 else {3: name[:3], 5: name[0]}.get(length, name)  # noqa: PLR2004 - as above.
        case "d":
            name = _DAYS[moment.weekday()]
            return f"{moment.day:0{length}}" if length < 3 else name[:3] if length == 3 else name  # noqa: PLR2004 - as above.
        case "h":
            return f"{(moment.hour - 1) % _NOON + 1 if halves else moment.hour:0{length}}"
        case _:
            return f"{moment.second:0{length}}"


def _literal(kind: str, text: str) -> str:
    if kind == "bracket":
        return text[2:-1].partition("-")[0] if text.startswith("[$") else ""
    if kind == "literal":
        return text.strip('"') if text.startswith('"') else {"_": " ", "*": ""}.get(text[0], text[1:])
    return text
