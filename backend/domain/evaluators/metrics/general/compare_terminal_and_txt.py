"""`compare_terminal_and_txt`: a text file has the terminal's text."""

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.text import line_feeds, read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "compare_terminal_and_txt")
def compare_terminal_and_txt(result: str | None, terminal_output: str | None) -> MetricValue:
    """1 if the file's text equals the terminal's, which is not empty; blanks at the ends of lines and text do not show.

    The expectation comes from the agent's own terminal, so its absence is not an error of the task.
    """
    text, reason = read_text(result)
    if text is None:
        return verdict(met=False, reason=reason)
    if not terminal_output:
        return verdict(met=False, reason="the terminal shows nothing")
    same = _lines(text) == _lines(terminal_output)
    return verdict(same, f"the terminal shows {short(terminal_output)}, the file has {short(text)}")


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in line_feeds(text).rstrip().split("\n")]
