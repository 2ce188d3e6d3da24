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
        result: path of the .pptx that was left.
        rules: `color`: red, green, blue or black.
        strict_upstream: take the last colour of the master that is not black, of whatever it may be.

    Raises:
        EvaluatorFailed: the rules name no colour that can be judged.
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
    """`check_page_number_colors` as WindowsAgentArena has it; it differs where upstream's old numbers are wanted.

    1 if the slide numbers have the colour, by the master or on every slide that shows one.

    Args:
        result: path of the .pptx that was left.
        rules: `color`: red, green, blue or black.
        strict_upstream: take the last colour but one of the master, its first digit cut off.

    Raises:
        EvaluatorFailed: the rules name no colour that can be judged.
    """
    return page_numbers(result, rules, _last_but_one if strict_upstream else None)


def _last_but_one(deck: "Presentation") -> Colour | None:
    """That suite reads `RRGGBB` as if it began with `#`."""
    master = deck.slide_masters[0]._element  # noqa: SLF001 - no public way to the element.
    colours = [e.get("val", "") for e in master.iterfind(f".//{A}solidFill//{A}srgbClr")]
    try:
        value = colours[-2]
        return int(value[1:3], 16), int(value[3:5], 16), int(value[5:7], 16)
    except (IndexError, ValueError):
        return None
