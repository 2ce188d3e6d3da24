"""`check_image_file_size`: a picture's file is small enough."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import rule
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.pictures import read_picture
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_image_file_size")
def check_image_file_size(
    result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False
) -> MetricValue:
    """1 if the file is a picture of fewer bytes than allowed.

    Args:
        result: its path.
        rules: `max_size`, in bytes, exclusive.
        strict_upstream: any file passes, even an empty one.

    Raises:
        EvaluatorFailed: the rules have no size.
    """
    most = rule(rules, "max_size")
    if not isinstance(most, int | float) or isinstance(most, bool):
        raise EvaluatorFailed(f"max_size is {short(most)}, expected a number of bytes", code="invalid_rule")
    picture, reason = read_picture(result, as_stored=strict_upstream)
    if result is None or not Path(result).is_file() or (picture is None and not strict_upstream):
        return verdict(met=False, reason=reason)
    size = Path(result).stat().st_size
    return verdict(size < most, f"the file has {size} bytes, expected fewer than {most}")
