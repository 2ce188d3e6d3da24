"""The desktop's time and time zone, stored as evidence so that re-evaluation uses the same day."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from backend.domain.errors import EvaluatorFailed, GuestRefused
from backend.domain.evaluators.getters._evidence import as_json, json_value
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext

_OFFSET = "import time\nprint(time.localtime().tm_gmtoff)"
_FAR = 16 * 3600  # No time zone is farther from UTC.


def read_clock(context: SetupContext, *, local: bool = True) -> Blob:
    """The desktop's clock and, with `local`, its offset from UTC in seconds (None if unknown)."""
    value: dict[str, Any] = {"clock": context.desktop.probe().clock}
    if local:
        value["offset"] = _offset(context)
    return as_json("clock", value)


def _offset(context: SetupContext) -> int | None:
    try:
        result = context.desktop.run_python(_OFFSET)
        return int(result.output.strip()) if result.returncode == 0 else None
    except (GuestRefused, ValueError):
        return None


def instant(blob: Blob) -> datetime:
    """The moment in UTC.

    Raises:
        EvaluatorFailed: the desktop's clock has no valid time.
    """
    clock = _clock_values(blob).get("clock")
    if not isinstance(clock, int | float) or not math.isfinite(clock):
        raise EvaluatorFailed("the desktop's clock was not collected", code="evidence_missing")
    try:
        return datetime.fromtimestamp(clock, UTC)
    except (OverflowError, ValueError, OSError) as error:
        raise EvaluatorFailed(f"the desktop's clock has no valid time: {clock}", code="evidence_damaged") from error


def local_instant(blob: Blob) -> datetime:
    """The moment in the desktop's own time zone.

    Raises:
        EvaluatorFailed: the desktop's time zone is unknown.
    """
    offset = _clock_values(blob).get("offset")
    if not isinstance(offset, int) or abs(offset) > _FAR:
        raise EvaluatorFailed("the desktop did not report its offset from UTC", code="evidence_unreadable")
    return instant(blob).astimezone(timezone(timedelta(seconds=offset)))


def _clock_values(blob: Blob) -> Mapping[str, Any]:
    value = json_value(blob)
    if not isinstance(value, dict):
        raise EvaluatorFailed("the evidence of the desktop's clock is damaged", code="evidence_damaged")
    return value
