"""`check_file_contains`: a file contains this text."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.wording import plain
from backend.domain.model.score import MetricValue
from backend.domain.omnibench.expression import DIALECT
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_file_contains", dialect=DIALECT)
def check_file_contains(result: Mapping[str, Any]) -> MetricValue:
    """1 if the text is in the file, ignoring case, blanks and line ends."""
    content, text = result["content"], plain(result["text"])
    if content is None:
        return verdict(met=False, reason="the file is missing, damaged, or has no text")
    met = text in plain(content)
    return verdict(
        met, f"the file {'contains' if met else 'does not contain'} {short(result['text'])}: {short(content)}"
    )
