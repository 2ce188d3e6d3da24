"""`compare_python_pure_text` of WindowsAgentArena: white space does not count at all."""

from backend.domain.evaluators.metrics.general._python_text import compare_sources
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "compare_python_pure_text", dialect="waa")
def compare_python_pure_text_waa(result: str | None, expected: str | None) -> MetricValue:
    """1 if the sources are equal once every blank, tab and line end is gone."""
    return compare_sources(result, expected, lambda text: ["".join(text.split())])
