"""`check_page_number_colors`: the slide numbers have a certain colour."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from backend.domain.evaluators.metrics.slides._page_colours import page_numbers
from backend.domain.formats.slides_colours import A, Colour, rgb
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from pptx.presentation import Presentation


@register(PluginKind.METRIC, "check_page_number_colors")
def check_page_number_colors(
    result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False
) -> MetricValue:
    """1 if the slide numbers have the colour, by the master or on every slide that shows one.

    Args:
        result: path of the agent's .pptx file.
        rules: `color`: red, green, blue or black.
        strict_upstream: use the last colour in the master that is not black, of any element.

    Raises:
        EvaluatorFailed: the rules have no supported colour.
    """
    return page_numbers(result, rules, _last_colour if strict_upstream else None)


def _last_colour(deck: "Presentation") -> Colour | None:
    master = deck.slide_masters[0]._element  # noqa: SLF001 - no public way to the element.
    everything = [e.get("val", "") for e in master.iterfind(f".//{A}solidFill//{A}srgbClr")]
    runs = [e.get("val", "") for e in master.iterfind(f".//{A}rPr//{A}solidFill//{A}srgbClr")]
    for value in [*reversed(runs), *reversed(everything)]:
        if value not in {"", "000000"}:
            return rgb(value)
    return rgb(everything[-1]) if everything else None


if TYPE_CHECKING:
    from pptx.presentation import Presentation


@register(PluginKind.METRIC, "check_page_number_colors", dialect="waa")
def check_page_number_colors_waa(
    result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False
) -> MetricValue:
    """`check_page_number_colors` of WindowsAgentArena, which differs under `strict_upstream` only.

    1 if the slide numbers have the colour, by the master or on every slide that shows one.

    Args:
        result: path of the agent's .pptx file.
        rules: `color`: red, green, blue or black.
        strict_upstream: use the last but one colour in the master, without its first digit.

    Raises:
        EvaluatorFailed: the rules have no supported colour.
    """
    return page_numbers(result, rules, _last_but_one if strict_upstream else None)


def _last_but_one(deck: "Presentation") -> Colour | None:
    """WindowsAgentArena reads `RRGGBB` as if it began with `#`."""
    master = deck.slide_masters[0]._element  # noqa: SLF001 - no public way to the element.
    colours = [e.get("val", "") for e in master.iterfind(f".//{A}solidFill//{A}srgbClr")]
    try:
        value = colours[-2]
        return int(value[1:3], 16), int(value[3:5], 16), int(value[5:7], 16)
    except (IndexError, ValueError):
        return None
