"""`compare_python_pure_text`: two files of Python source are the same but for blank lines and a head line."""

from backend.domain.evaluators.metrics.general._python_text import compare_sources
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_HEADS = ("#!", "# -*- coding:", "# coding:", "# coding=")
_MOST_HEADS = 3


@register(PluginKind.METRIC, "compare_python_pure_text")
def compare_python_pure_text(result: str | None, expected: str | None) -> MetricValue:
    """1 if the sources are equal.

    Interpreter and encoding lines at the start, empty lines and blanks at the ends of lines do not count; a tab
    counts as blanks up to the next multiple of four.
    """
    return compare_sources(result, expected, _lines)


def _lines(text: str) -> list[str]:
    lines = text.splitlines()
    heads = 0
    while heads < min(len(lines), _MOST_HEADS) and lines[heads].strip().startswith(_HEADS):
        heads += 1
    return [line.expandtabs(4).rstrip() for line in lines[heads:] if line.strip()]


@register(PluginKind.METRIC, "compare_python_pure_text", dialect="waa")
def compare_python_pure_text_waa(result: str | None, expected: str | None) -> MetricValue:
    """`compare_python_pure_text` of WindowsAgentArena: white space does not count at all.

    1 if the sources are equal once every blank, tab and line end is gone.
    """
    return compare_sources(result, expected, lambda text: ["".join(text.split())])
