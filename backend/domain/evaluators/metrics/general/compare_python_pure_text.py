"""`compare_python_pure_text`: two files of Python source are equal, ignoring blank lines and header lines."""

from backend.domain.evaluators.metrics.general._python_text import compare_sources
from backend.domain.formats.text import split_lines
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_HEADS = ("#!", "# -*- coding:", "# coding:", "# coding=")
_MOST_HEADS = 3


@register(PluginKind.METRIC, "compare_python_pure_text")
def compare_python_pure_text(result: str | None, expected: str | None) -> MetricValue:
    """1 if the sources are equal.

    Ignores interpreter and encoding lines at the start, empty lines and trailing blanks; a tab expands to the next
    multiple of four.
    """
    return compare_sources(result, expected, _lines)


def _lines(text: str) -> list[str]:
    lines = split_lines(text)
    heads = 0
    while heads < min(len(lines), _MOST_HEADS) and lines[heads].strip().startswith(_HEADS):
        heads += 1
    return [line.expandtabs(4).rstrip() for line in lines[heads:] if line.strip()]


@register(PluginKind.METRIC, "compare_python_pure_text", dialect="waa")
def compare_python_pure_text_waa(result: str | None, expected: str | None) -> MetricValue:
    """`compare_python_pure_text` of WindowsAgentArena: ignores all white space.

    1 if the sources are equal without blanks, tabs and line ends.
    """
    return compare_sources(result, expected, lambda text: ["".join(text.split())])
