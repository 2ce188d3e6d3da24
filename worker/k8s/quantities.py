"""Kubernetes quantities: `16Gi`, `500m`, `1k`, `1e3`."""

import re
from decimal import Decimal, InvalidOperation

_FORM = re.compile(r"^([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([KMGTPE]i|[numkMGTPE])?$")
_FACTORS = {
    "": Decimal(1),
    **{unit: Decimal(10) ** (3 * power) for power, unit in zip((-3, -2, -1), "num", strict=True)},
    **{unit: Decimal(10) ** (3 * power) for power, unit in enumerate("kMGTPE", start=1)},
    **{f"{unit}i": Decimal(2) ** (10 * power) for power, unit in enumerate("KMGTPE", start=1)},
}
_MOST = Decimal(2) ** 63


def amount(text: object) -> Decimal | None:
    """A quantity in its base unit; None if it is invalid or too large."""
    match = _FORM.match(str(text).strip())
    if match is None:
        return None
    try:
        number = Decimal(match[1]) * _FACTORS[match[2] or ""]
    except InvalidOperation:
        return None
    return number if abs(number) < _MOST else None
