"""`compare_time_in_speedtest_results`: an exported speed test is recent."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.text import read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

DAY = 24 * 60
_CLOCK = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")


@register(PluginKind.METRIC, "compare_time_in_speedtest_results")
def compare_time_in_speedtest_results(
    result: str | None, expected: str | int | Mapping[str, Any], *, strict_upstream: bool = False
) -> MetricValue:
    """1 if the first record's time is less than a number of minutes from the time of the evaluation.

    Args:
        result: path of the exported CSV file; the second column of its second line ends in `HH:MM`.
        expected: minutes, or `{"minutes": ..., "now": "HH:MM"}` with the desktop's time of the evaluation, so that
            re-evaluation gets the same result. Without it, the current time is used, as published.
        strict_upstream: as published, 23:59 and 00:01 are a day apart.
    """
    minutes, now = _expected_range(expected)
    text, reason = read_text(result)
    if text is None:
        return verdict(met=False, reason=reason)
    columns = (text.split("\n")[1:2] or [""])[0].split(",")
    clock = _CLOCK.fullmatch(columns[1][-5:]) if len(columns) > 1 else None
    if clock is None:
        return verdict(met=False, reason="the second line has no time `HH:MM` at the end of its second column")
    apart = abs(int(clock[1]) * 60 + int(clock[2]) - now)
    apart = apart if strict_upstream else min(apart, DAY - apart)
    return verdict(apart < minutes, f"the test was made {apart} minutes from that time, expected less than {minutes}")


def _expected_range(expected: Any) -> tuple[int, int]:
    rules = expected if isinstance(expected, Mapping) else {"minutes": expected}
    try:
        minutes = int(rules["minutes"])
    except (KeyError, TypeError, ValueError) as error:
        raise EvaluatorFailed(f"expected a number of minutes, got {short(expected)}", code="invalid_rule") from error
    now = str(rules["now"]) if "now" in rules else f"{datetime.now().astimezone():%H:%M}"
    clock = _CLOCK.fullmatch(now)
    if clock is None:
        raise EvaluatorFailed(f"expected the time as `HH:MM`, got {short(now)}", code="invalid_rule")
    return minutes, int(clock[1]) * 60 + int(clock[2])
