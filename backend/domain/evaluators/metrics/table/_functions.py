"""Functions supported in formulas: those that people use in conditional formats."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from backend.domain.evaluators.metrics.table._formula_values import (
    Area,
    FormulaContext,
    FormulaError,
    Node,
    NotUnderstood,
    compare,
    number,
    scalar,
    text,
    truth,
)

MANY = 255
Function = Callable[[FormulaContext, Sequence[Node]], Any]
FUNCTIONS: dict[str, tuple[Function, tuple[int, int]]] = {}
_CRITERION = re.compile(r"(<>|<=|>=|=|<|>)?(.*)", re.DOTALL)
_EPOCH = datetime(1899, 12, 30)  # noqa: DTZ001 - a spreadsheet's days have no time zone.
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _enter(name: str, least: int, most: int, function: Function) -> None:
    FUNCTIONS[name] = (function, (least, most))


def _of_values(name: str, least: int, most: int, function: Callable[..., Any]) -> None:
    """A function of scalar values."""

    def called(context: FormulaContext, arguments: Sequence[Node]) -> Any:
        return function(*(scalar(argument(context), context) for argument in arguments))

    _enter(name, least, most, called)


def _of_numbers(name: str, function: Callable[[list[float]], Any]) -> None:
    """A function of all numbers in its arguments; text and booleans in areas are skipped."""

    def called(context: FormulaContext, arguments: Sequence[Node]) -> Any:
        return function(list(_numbers(context, arguments)))

    _enter(name, 1, MANY, called)


def _items(context: FormulaContext, argument: Node) -> tuple[list[Any], bool]:
    """The values of an argument, and whether it is an area."""
    value = argument(context)
    return (context.values(value), True) if isinstance(value, Area) else ([value], False)


def _numbers(context: FormulaContext, arguments: Sequence[Node]) -> Iterator[float]:
    for argument in arguments:
        values, area = _items(context, argument)
        for value in values:
            if isinstance(value, FormulaError):
                raise value
            if area and (isinstance(value, bool | str) or value is None):
                continue
            yield number(value)


def _truths(context: FormulaContext, arguments: Sequence[Node]) -> list[bool]:
    values = [value for argument in arguments for value in _items(context, argument)[0]]
    failed = next((value for value in values if isinstance(value, FormulaError)), None)
    if failed is not None:
        raise failed
    return [truth(value) for value in values if value is not None and not isinstance(value, str)]


def _if(context: FormulaContext, arguments: Sequence[Node]) -> Any:
    branch = 1 if truth(scalar(arguments[0](context), context)) else 2
    return arguments[branch](context) if branch < len(arguments) else False


def _instead(name: str, only: str | None) -> None:
    def called(context: FormulaContext, arguments: Sequence[Node]) -> Any:
        try:
            return scalar(arguments[0](context), context)
        except FormulaError as error:
            if only is not None and str(error) != only:
                raise
            return arguments[1](context)

    _enter(name, 2, 2, called)


def _asks(name: str, question: Callable[[Any], bool]) -> None:
    """A predicate on a value, which may be an error."""

    def called(context: FormulaContext, arguments: Sequence[Node]) -> bool:
        try:
            value = scalar(arguments[0](context), context)
        except FormulaError as error:
            value = error
        return question(value)

    _enter(name, 1, 1, called)


def _criterion(criterion: Any) -> Callable[[Any], bool]:
    """A criterion of COUNTIF: `">5"`, `"a*"` or a plain value."""
    if not isinstance(criterion, str):
        return lambda value: value is not None and compare("=", value, criterion)
    match = _CRITERION.fullmatch(criterion)
    sign, operand = (match[1] or "=", match[2]) if match else ("=", criterion)
    try:
        bound: Any = float(operand)
    except ValueError:
        bound = operand
    if isinstance(bound, str) and sign in {"=", "<>"}:
        pattern = re.compile(re.escape(bound).replace(r"\*", ".*").replace(r"\?", "."), re.IGNORECASE | re.DOTALL)
        return lambda value: (pattern.fullmatch(text(value)) is not None) == (sign == "=")
    return lambda value: (
        isinstance(value, str) == isinstance(bound, str) and value is not None and compare(sign, value, bound)
    )


def _count_if(context: FormulaContext, arguments: Sequence[Node]) -> float:
    """COUNTIF and COUNTIFS."""
    hits: list[bool] = []
    for area, criterion in zip(arguments[::2], arguments[1::2], strict=True):
        fits = _criterion(scalar(criterion(context), context))
        matches = [fits(value) for value in _items(context, area)[0]]
        hits = [hit and match for hit, match in zip(hits, matches, strict=True)] if hits else matches
    return float(sum(hits))


def _sum_if(context: FormulaContext, arguments: Sequence[Node]) -> float:
    fits = _criterion(scalar(arguments[1](context), context))
    values = _items(context, arguments[0])[0]
    summands = _items(context, arguments[2])[0] if len(arguments) > 2 else values  # noqa: PLR2004
    return sum(
        number(summand)
        for value, summand in zip(values, summands, strict=False)
        if fits(value) and isinstance(summand, int | float)
    )


def _match(context: FormulaContext, arguments: Sequence[Node]) -> float:
    target, values = scalar(arguments[0](context), context), _items(context, arguments[1])[0]
    way = number(scalar(arguments[2](context), context)) if len(arguments) > 2 else 1.0  # noqa: PLR2004
    if way == 0:
        fits = _criterion("=" + target) if isinstance(target, str) else _criterion(target)
        hits = [position for position, value in enumerate(values, 1) if fits(value)][:1]
    else:
        sign = "<=" if way > 0 else ">="
        hits = [at for at, value in enumerate(values, 1) if value is not None and compare(sign, value, target)][-1:]
    if not hits:
        raise FormulaError("#N/A")
    return float(hits[0])


def _column_of(context: FormulaContext, arguments: Sequence[Node]) -> float:
    return float(_bounds_of(context, arguments)[1])


def _row_of(context: FormulaContext, arguments: Sequence[Node]) -> float:
    return float(_bounds_of(context, arguments)[0])


def _bounds_of(context: FormulaContext, arguments: Sequence[Node]) -> tuple[int, ...]:
    """The area of the argument, without one the formula's own cell."""
    area = arguments[0](context) if arguments else Area((context.row, context.column, context.row, context.column))
    if not isinstance(area, Area):
        raise FormulaError("#VALUE!")
    return area.bounds


def _index(context: FormulaContext, arguments: Sequence[Node]) -> Area:
    """INDEX of an area; a single number counts along a single row."""
    top, left, bottom, right = _bounds_of(context, arguments)
    places = [int(number(scalar(argument(context), context))) for argument in arguments[1:]]
    down, across = places if len(places) > 1 else (1, places[0]) if top == bottom else (places[0], 1)
    if not (0 < down <= bottom - top + 1 and 0 < across <= right - left + 1):
        raise FormulaError("#REF!")
    area = arguments[0](context)
    row, column = top + down - 1, left + across - 1
    return Area((row, column, row, column), area.sheet if isinstance(area, Area) else None)


def _look_up(context: FormulaContext, arguments: Sequence[Node]) -> Any:
    """VLOOKUP."""
    area = arguments[1](context)
    if not isinstance(area, Area):
        raise FormulaError("#VALUE!")
    top, left, bottom, right = area.bounds
    column = left + int(number(scalar(arguments[2](context), context))) - 1
    if not left <= column <= right:
        raise FormulaError("#REF!")
    keys = Area((top, left, bottom, left), area.sheet)
    exact = len(arguments) > 3 and not truth(scalar(arguments[3](context), context))  # noqa: PLR2004
    row = int(_match(context, [arguments[0], lambda _: keys, lambda _: 0.0 if exact else 1.0]))
    return context.values(Area((top + row - 1, column, top + row - 1, column), area.sheet))[0]


def _check_rank_arguments(name: str, *, descending: bool) -> None:
    def called(context: FormulaContext, arguments: Sequence[Node]) -> float:
        values = sorted(_numbers(context, arguments[:1]), reverse=descending)
        position = int(number(scalar(arguments[1](context), context)))
        if not 1 <= position <= len(values):
            raise FormulaError("#NUM!")
        return values[position - 1]

    _enter(name, 2, 2, called)


def _day(value: Any) -> datetime:
    try:
        return _EPOCH + timedelta(days=math.floor(number(value)))
    except OverflowError as error:
        raise FormulaError("#NUM!") from error


def _weekday(value: Any, way: Any = 1) -> float:
    day = _day(value).weekday()  # Monday is 0.
    known = {
        1: (day + 1) % 7 + 1,
        2: day + 1,
        3: day,
        **{10 + first: (day - first + 1) % 7 + 1 for first in range(1, 8)},
    }
    if int(number(way)) not in known:
        raise FormulaError("#NUM!")
    return float(known[int(number(way))])


def _serial(year: Any, month: Any, day: Any) -> float:
    months = int(number(year)) * 12 + int(number(month)) - 1
    try:
        first = date(months // 12, months % 12 + 1, 1)
    except ValueError as error:
        raise FormulaError("#NUM!") from error
    return float((first - _EPOCH.date()).days + int(number(day)) - 1)


def _format(value: Any, code: Any) -> str:
    day, pattern = _day(value), text(code).lower()
    known = {"dddd": _DAYS[day.weekday()], "ddd": _DAYS[day.weekday()][:3], "d": str(day.day), "dd": f"{day.day:02}"}
    known |= {"m": str(day.month), "mm": f"{day.month:02}", "yyyy": str(day.year), "0": f"{number(value):.0f}"}
    if pattern not in known:
        raise NotUnderstood(f"TEXT with {pattern!r} is not supported")
    return known[pattern]


def _find_position(where: str, needle: str, start: float) -> float:
    at = where.find(needle, int(start) - 1)
    if at < 0:
        raise FormulaError("#VALUE!")
    return float(at + 1)


def _mod(value: Any, divisor: Any) -> float:
    if not number(divisor):
        raise FormulaError("#DIV/0!")
    return number(value) - number(divisor) * math.floor(number(value) / number(divisor))


def _mean(values: list[float]) -> float:
    if not values:
        raise FormulaError("#DIV/0!")
    return math.fsum(values) / len(values)


def _median(values: list[float]) -> float:
    if not values:
        raise FormulaError("#NUM!")
    ordered, middle = sorted(values), len(values) // 2
    return ordered[middle] if len(values) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _round(value: Any, digits: Any = 0) -> float:
    scale = 10.0 ** int(number(digits))
    return math.copysign(math.floor(abs(number(value)) * scale + 0.5) / scale, number(value))


def _root(value: Any) -> float:
    if number(value) < 0:
        raise FormulaError("#NUM!")
    return math.sqrt(number(value))


def _count_values(context: FormulaContext, arguments: Sequence[Node]) -> float:
    return float(sum(value is not None for argument in arguments for value in _items(context, argument)[0]))


def _empty(context: FormulaContext, arguments: Sequence[Node]) -> float:
    return float(sum(value in {None, ""} for value in _items(context, arguments[0])[0]))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_enter("IF", 2, 3, _if)
_enter("AND", 1, MANY, lambda context, arguments: all(_truths(context, arguments)))
_enter("OR", 1, MANY, lambda context, arguments: any(_truths(context, arguments)))
_enter("XOR", 1, MANY, lambda context, arguments: sum(_truths(context, arguments)) % 2 == 1)
_of_values("NOT", 1, 1, lambda value: not truth(value))
_of_values("TRUE", 0, 0, lambda: True)
_of_values("FALSE", 0, 0, lambda: False)
_instead("IFERROR", None)
_instead("IFNA", "#N/A")
_asks("ISNUMBER", _is_number)
_asks("ISTEXT", lambda value: isinstance(value, str))
_asks("ISNONTEXT", lambda value: not isinstance(value, str))
_asks("ISBLANK", lambda value: value is None)
_asks("ISLOGICAL", lambda value: isinstance(value, bool))
_asks("ISERROR", lambda value: isinstance(value, FormulaError))
_asks("ISERR", lambda value: isinstance(value, FormulaError) and str(value) != "#N/A")
_asks("ISNA", lambda value: isinstance(value, FormulaError) and str(value) == "#N/A")
_of_values("ISEVEN", 1, 1, lambda value: int(number(value)) % 2 == 0)
_of_values("ISODD", 1, 1, lambda value: int(number(value)) % 2 == 1)
_of_numbers("SUM", math.fsum)
_of_numbers("AVERAGE", _mean)
_of_numbers("MEDIAN", _median)
_of_numbers("MIN", lambda values: min(values, default=0.0))
_of_numbers("MAX", lambda values: max(values, default=0.0))
_of_numbers("COUNT", lambda values: float(len(values)))
_enter("COUNTA", 1, MANY, _count_values)
_enter("COUNTBLANK", 1, 1, _empty)
_enter("COUNTIF", 2, 2, _count_if)
_enter("SUMIF", 2, 3, _sum_if)
_enter("MATCH", 2, 3, _match)
_enter("VLOOKUP", 3, 4, _look_up)
_check_rank_arguments("LARGE", descending=True)
_check_rank_arguments("SMALL", descending=False)
_enter("INDEX", 2, 3, _index)
_enter("ROW", 0, 1, _row_of)
_enter("COLUMN", 0, 1, _column_of)
_of_values("ABS", 1, 1, lambda value: abs(number(value)))
_of_values("INT", 1, 1, lambda value: float(math.floor(number(value))))
_of_values("TRUNC", 1, 1, lambda value: float(math.trunc(number(value))))
_of_values("ROUND", 2, 2, _round)
_of_values("MOD", 2, 2, _mod)
_of_values("SQRT", 1, 1, _root)
_of_values("LEN", 1, 1, lambda value: float(len(text(value))))
_of_values("TRIM", 1, 1, lambda value: " ".join(text(value).split()))
_of_values("UPPER", 1, 1, lambda value: text(value).upper())
_of_values("LOWER", 1, 1, lambda value: text(value).lower())
_of_values("LEFT", 1, 2, lambda value, size=1: text(value)[: int(number(size))])
_of_values("RIGHT", 1, 2, lambda value, size=1: text(value)[-int(number(size)) :] if number(size) >= 1 else "")
_of_values("MID", 3, 3, lambda value, at, size: text(value)[int(number(at)) - 1 :][: int(number(size))])
_of_values("EXACT", 2, 2, lambda first, second: text(first) == text(second))
_of_values("FIND", 2, 3, lambda what, where, start=1: _find_position(text(where), text(what), number(start)))
_of_values(
    "SEARCH", 2, 3, lambda what, where, start=1: _find_position(text(where).lower(), text(what).lower(), number(start))
)
_of_values(
    "SUBSTITUTE", 3, 3, lambda value, old, new: text(value).replace(text(old), text(new)) if old else text(value)
)
_of_values("CONCATENATE", 1, MANY, lambda *values: "".join(map(text, values)))
_of_values("VALUE", 1, 1, number)
_of_values("TEXT", 2, 2, _format)
_of_values("DATE", 3, 3, _serial)
_of_values("YEAR", 1, 1, lambda value: float(_day(value).year))
_of_values("MONTH", 1, 1, lambda value: float(_day(value).month))
_of_values("DAY", 1, 1, lambda value: float(_day(value).day))
_of_values("WEEKDAY", 1, 2, _weekday)
_enter("COUNTIFS", 2, MANY, _count_if)
