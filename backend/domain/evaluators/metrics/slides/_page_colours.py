"""Shared implementation of both suites' `check_page_number_colors`."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import rule
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.evaluators.metrics.slides._slide_numbers import all_numbers, in_words, visible_numbers
from backend.domain.formats.slides import look_into
from backend.domain.formats.slides_colours import Colour
from backend.domain.model.score import MetricValue

if TYPE_CHECKING:
    from pptx.presentation import Presentation

_BY = 50
_CHANNELS = {"red": 0, "green": 1, "blue": 2}
Upstream = Callable[["Presentation"], Colour | None]


def page_numbers(result: str | None, rules: Mapping[str, Any], upstream: Upstream | None) -> MetricValue:
    """1 if every slide number has the colour; if no slide shows one, the master's.

    Args:
        result: path of the .pptx.
        rules: `color`: red, green, blue or black.
        upstream: a suite's own way to find the colour, for strict verdicts.

    Raises:
        EvaluatorFailed: the rules have no supported colour.
    """
    expected = rule(rules, "color")
    if expected not in {*_CHANNELS, "black"}:
        raise EvaluatorFailed(f"color is {short(expected)}, expected red, green, blue or black", code="invalid_rule")
    if upstream is not None:
        colour, reason = look_into(result, upstream, as_stored=True)
        return verdict(_is(expected, colour), reason or f"upstream reads {colour}, expected {expected}")
    numbers, reason = look_into(result, all_numbers)
    if numbers is None:
        return verdict(met=False, reason=reason)
    visible = visible_numbers(*numbers)
    met = bool(visible) and all(_is(expected, colour) for _, colour in visible)
    return verdict(met, f"{in_words([*numbers[0], *numbers[1]])}; expected {expected}")


def _is(name: str, colour: Colour | None) -> bool:
    if colour is None:
        return False
    if name == "black":
        return max(colour) < _BY
    channel = _CHANNELS[name]
    return all(colour[channel] > value + _BY for other, value in enumerate(colour) if other != channel)
