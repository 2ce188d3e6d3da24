"""`check_one_instance_when_started_from_file`: whether VLC opens files in one instance."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics.vlc._settings import compare_setting
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_one_instance_when_started_from_file")
def check_one_instance_when_started_from_file(
    result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False
) -> MetricValue:
    """1 if VLC's setting `one-instance-when-started-from-file` is as expected; the default is 1.

    Args:
        result: path of `vlcrc`.
        rules: `expected_one_instance_when_started_from_file`, a number or text.
        strict_upstream: as published, commented lines count.
    """
    return compare_setting(
        result,
        (rules, "expected_one_instance_when_started_from_file"),
        "one-instance-when-started-from-file",
        "1",
        strict=strict_upstream,
    )
