"""`is_extension_installed`: a command's output contains a text, or does not."""

import re
from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_NAME = r"(?<![\w.~-]){}(?![\w~-]|\.\w)"


@register(PluginKind.METRIC, "is_extension_installed")
def is_extension_installed(
    result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False
) -> MetricValue:
    """1 if the text is present, or absent; tasks use it for lists of extensions, files and registry values.

    Args:
        result: the output; None (a command that could not be run) scores 0 in either case.
        rules: `type`: `contain` or `not_contain`; `expected`: the text, a whole name: `my_test.py` is not `test.py`.
        strict_upstream: it may be part of another name.
    """
    kind, part = rules.get("type"), rules.get("expected")
    if kind not in {"contain", "not_contain"} or not isinstance(part, str):
        raise EvaluatorFailed(f"a rule of type {kind!r} for {part!r} is not valid", code="invalid_rule")
    if result is None:
        return verdict(met=False, reason="there was no output")
    has = part in result if strict_upstream else re.search(_NAME.format(re.escape(part)), result) is not None
    return verdict(has == (kind == "contain"), f"{short(part)} is {'' if has else 'not '}in {short(result)}")
