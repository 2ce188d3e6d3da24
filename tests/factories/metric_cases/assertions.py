"""Cases of the metric that judges written assertions."""

from typing import Any

from tests.factories.metric_cases import Call, MetricCase


def seen(title: str) -> Call:
    """A desktop's state with that window in front."""
    window = {"title": title, "class": "a.b", "active": True}
    facts: dict[str, Any] = {"expression": 'window_active("Excel")', "files": {}, "windows": [window]}
    return Call((facts,))


CASES = {
    "written_assertion": MetricCase(
        passing=lambda _: seen("plan.xlsx - Excel"), near_miss=lambda _: seen("plan.xlsx"), of_file=False
    )
}
