"""`check_transition`: a slide has a certain transition."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import rule
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.slides import look_into
from backend.domain.formats.slides_colours import P, local
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from pptx.presentation import Presentation


@register(PluginKind.METRIC, "check_transition")
def check_transition(result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False) -> MetricValue:
    """1 if the slide has the expected transition.

    Args:
        result: path of the agent's .pptx file.
        rules: `slide_idx`, from 0, and `transition_type`, its name in the file (`dissolve`, `fade`, ...).
        strict_upstream: find the slide by its file's name, not by its position.

    Raises:
        EvaluatorFailed: the rules lack the slide or the transition.
    """
    position, transition = rule(rules, "slide_idx"), rule(rules, "transition_type")
    if not isinstance(position, int) or position < 0 or not isinstance(transition, str) or not transition:
        raise EvaluatorFailed(
            f"there is no slide {short(position)} with transition {short(transition)}", code="invalid_rule"
        )
    names, reason = look_into(result, lambda deck: _effects(deck, position, by_name=strict_upstream))
    if names is None:
        return verdict(met=False, reason=reason)
    return verdict(transition in names, f"the transition is {names[0] if names else 'none'}, expected {transition}")


def _effects(deck: "Presentation", position: int, *, by_name: bool) -> list[str]:
    """The elements of a slide's transition; empty without a transition or slide."""
    slides = list(deck.slides)
    if by_name:
        slides = [slide for slide in slides if str(slide.part.partname) == f"/ppt/slides/slide{position + 1}.xml"]
        position = 0
    if position >= len(slides):
        return []
    first = next(slides[position]._element.iterfind(f".//{P}transition"), None)  # noqa: SLF001 - no public way.
    return [] if first is None else [local(effect.tag) for effect in first.iterdescendants()]
