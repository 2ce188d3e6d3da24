"""Days relative to the day of the evaluation, and their formats in task files.

The names and the arithmetic are OSWorld's (`getters/misc.py`); WAA has an older part of them. OSWorld's months wrap
wrongly (four months after August would be month 0); ours follow the calendar.
"""

from collections.abc import Callable
from datetime import date, timedelta

_MONDAY, _FRIDAY, _SATURDAY, _SUNDAY = 0, 4, 5, 6
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def _of_next_month(number: int) -> Callable[[date], date]:
    return lambda today: _months_later(today, 1).replace(day=number)


def _months_later(today: date, months: int) -> date:
    """The first day of the month that many months later."""
    years, month = divmod(today.month - 1 + months, 12)
    return date(today.year + years, month + 1, 1)


def _first_monday(months: int) -> Callable[[date], date]:
    def first_monday(today: date) -> date:
        first = _months_later(today, months)
        return first + timedelta(days=-first.weekday() % 7)

    return first_monday


def _of_this_week(weekday: int) -> Callable[[date], date]:
    """The weekday of this week, possibly before today: on a Sunday, "this Saturday" is yesterday."""
    return lambda today: today + timedelta(days=weekday - today.weekday())


def _of_next_week(weekday: int) -> Callable[[date], date]:
    return lambda today: today + timedelta(days=7 - today.weekday() + weekday)


def _coming(weekday: int) -> Callable[[date], date]:
    """The next such weekday after today."""
    return lambda today: today + timedelta(days=(weekday - today.weekday() - 1) % 7 + 1)


DAYS: dict[str, Callable[[date], date]] = {
    "tomorrow": lambda today: today + timedelta(days=1),
    "this month": lambda today: today,
    "5th next month": _of_next_month(5),
    "10th next month": _of_next_month(10),
    "11th next month": _of_next_month(11),
    "this Saturday": _of_this_week(_SATURDAY),
    "this Sunday": _of_this_week(_SUNDAY),
    "next Monday": _coming(_MONDAY),
    "next Friday": _coming(_FRIDAY),
    "next Saturday": _coming(_SATURDAY),
    "next Sunday": _coming(_SUNDAY),
    "next week Friday": _of_next_week(_FRIDAY),
    "next week Saturday": _of_next_week(_SATURDAY),
    "next week Sunday": _of_next_week(_SUNDAY),
    "first monday four months later": _first_monday(4),
    "first monday eight months later": _first_monday(8),
    "next Monday split": _coming(_MONDAY),
    "next Friday split": _coming(_FRIDAY),
}
"""All names, each with its day."""


def day(name: str, today: date) -> date:
    """The day that `name` means. Raises KeyError for a name that is not in DAYS."""
    return DAYS[name](today)


def second_day(name: str, first: str, today: date) -> date:
    """The end of a period that begins on the day `first`: some names refer to the same week or weekend."""
    start = day(first, today)
    if name in {"next Friday", "next Friday split"} and first in {"next Monday", "next Monday split"}:
        return start + timedelta(days=_FRIDAY)
    if name == "next Sunday" and first in {"next Friday", "next Saturday"}:
        return start + timedelta(days=_SUNDAY - start.weekday())
    return day(name, today)


def format_day(form: str, when: date) -> str:
    """The day in the template's format; unknown codes `{...}` are left unchanged."""
    month = MONTHS[when.month - 1]
    codes = {
        "DoW": WEEKDAYS[when.weekday()],
        "Month": month[:3],
        "MonthFull": month,
        "month": month.lower(),
        "MonthD": f"{when.month}",
        "Month0D": f"{when.month:02d}",
        "DayD": f"{when.day}",
        "Day0D": f"{when.day:02d}",
        "Year": f"{when.year}",
    }
    for code, text in codes.items():
        form = form.replace("{" + code + "}", text)
    return form
