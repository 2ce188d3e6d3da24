"""Windows' settings of the night light.

The registry stores them in Microsoft Bond's Compact Binary format: a field is a byte with its type (low 5 bits) and
number (high 3 bits; 6 means that the number is the next byte), then its value. Only booleans, integers and structures
occur. Zero is omitted: a schedule from midnight has no hour.
Source: Bond's documentation of Compact Binary v1; the fields' numbers from settings that Windows 11 wrote.
"""

from collections.abc import Iterator

from backend.domain.errors import EvaluatorFailed

START_MARK = b"CB\x01\x00"
SCHEDULED, BY_THE_SUN, START, END = 0, 10, 20, 30
HOUR, MINUTE = 0, 1
_STOP, _STRUCT = 0, 10
_BYTES = frozenset({2, 3, 14})  # booleans and 8-bit numbers
_VARINTS = frozenset({4, 5, 6, 15, 16, 17})  # larger numbers, in groups of 7 bits
_NEXT_BYTE = 6

Fields = dict[int, "int | Fields"]


def schedule(data: bytes) -> tuple[tuple[int, int], tuple[int, int]] | bool:
    """Start and end of the night light as hours and minutes; True for sunset to sunrise, False without a schedule.

    Raises:
        EvaluatorFailed: the format is unknown.
    """
    inner = data.rfind(START_MARK)
    if inner < 0:
        raise EvaluatorFailed("the night light's settings have an unknown format", code="evidence_damaged")
    fields = _structure(iter(data[inner + len(START_MARK) :]))
    if not fields.get(SCHEDULED):
        return False
    start, end = fields.get(START), fields.get(END)
    if not isinstance(start, dict) or not isinstance(end, dict) or BY_THE_SUN in fields:
        return True
    return _time(start), _time(end)


def _time(fields: Fields) -> tuple[int, int]:
    hour, minute = fields.get(HOUR, 0), fields.get(MINUTE, 0)
    return (hour if isinstance(hour, int) else 0), (minute if isinstance(minute, int) else 0)


def _structure(data: Iterator[int]) -> Fields:
    fields: Fields = {}
    try:
        while (head := next(data)) & 0x1F != _STOP:
            kind, number = head & 0x1F, head >> 5
            number = next(data) if number == _NEXT_BYTE else number
            fields[number] = _value(kind, data)
    except StopIteration:
        raise EvaluatorFailed("the night light's settings are truncated", code="evidence_damaged") from None
    except RecursionError:
        raise EvaluatorFailed("the night light's settings are not valid", code="evidence_damaged") from None
    return fields


def _value(kind: int, data: Iterator[int]) -> "int | Fields":
    if kind in _BYTES:
        return next(data)
    if kind == _STRUCT:
        return _structure(data)
    if kind in _VARINTS:
        while next(data) & 0x80:
            pass
        return 0
    raise EvaluatorFailed(
        f"the night light's settings have a value of the unknown type {kind}", code="evidence_damaged"
    )
