"""Amounts of resources: text as `500m` or `4Gi` to a number, and what a pod asks for in sum."""

from fractions import Fraction
from functools import cache

from tests.fakes.kubernetes.kinds import Json

_UNITS: dict[str, Fraction | int] = {
    "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "k": 10**3, "M": 10**6, "G": 10**9,
    "T": 10**12, "P": 10**15, "E": 10**18, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60,
}  # fmt: skip


@cache
def amount(text: str) -> float:
    """The number that a quantity means: cores, bytes or devices."""
    for length in (2, 1):
        if text[-length:] in _UNITS:
            return float(Fraction(text[:-length]) * _UNITS[text[-length:]])
    return float(text)


def asked(spec: Json) -> dict[str, float]:
    """A pod's requests, all its containers together; init containers run before, so their most counts."""
    total: dict[str, float] = {"pods": 1.0}
    for container in spec.get("containers") or []:
        for name, value in _requests(container).items():
            total[name] = total.get(name, 0.0) + amount(str(value))
    for container in spec.get("initContainers") or []:
        for name, value in _requests(container).items():
            total[name] = max(total.get(name, 0.0), amount(str(value)))
    return total


def _requests(container: Json) -> Json:
    resources = container.get("resources") or {}
    return {**(resources.get("limits") or {}), **(resources.get("requests") or {})}


def written(value: float) -> str:
    """A number as a quantity, as short as it goes."""
    return str(int(value)) if value == int(value) else f"{round(value * 1000)}m"
