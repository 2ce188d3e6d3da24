"""`check_slide_numbers_color`: the slide numbers are red."""

from typing import TYPE_CHECKING

from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.evaluators.metrics.slides._slide_numbers import all_numbers, in_words, visible_numbers
from backend.domain.formats.slides import look_into
from backend.domain.formats.slides_colours import A
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from pptx.presentation import Presentation

_RED = (255, 0, 0)


@register(PluginKind.METRIC, "check_slide_numbers_color")
def check_slide_numbers_color(result: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """1 if slides show numbers and all of these are pure red.

    Args:
        result: path of the agent's .pptx file.
        strict_upstream: any text of digits is a slide number, and its colour is that in the paragraph of the master's
            first `<number>`.
    """
    if strict_upstream:
        met, reason = look_into(result, _upstream, as_stored=True)
        return verdict(met, reason or "judged by the master's <number>")
    numbers, reason = look_into(result, all_numbers)
    if numbers is None:
        return verdict(met=False, reason=reason)
    master, slide = numbers
    red = all(colour == _RED for _, colour in visible_numbers(master, slide))
    return verdict(bool(slide) and red, in_words([*master, *slide]))


def _upstream(deck: "Presentation") -> bool:
    if not any(shape.has_text_frame and shape.text_frame.text.isdigit() for s in deck.slides for shape in s.shapes):
        return False
    for master in deck.slide_masters:
        for shape in master.placeholders:
            if shape.has_text_frame and shape.text_frame.text == "<number>":
                colour = shape._element.find(f".//{A}p/{A}pPr/{A}defRPr/{A}solidFill/{A}srgbClr")  # noqa: SLF001
                return colour is not None and colour.get("val", "").upper() == "FF0000"
    return False
