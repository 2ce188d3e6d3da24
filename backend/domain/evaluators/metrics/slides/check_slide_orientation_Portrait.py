"""`check_slide_orientation_Portrait`: the slides are in portrait format."""  # noqa: N999 - upstream's name.

from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.formats.slides_reader import read_deck
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_slide_orientation_Portrait")
def check_slide_orientation_Portrait(  # noqa: N802 - upstream's name.
    result: str | None, *, strict_upstream: bool = False
) -> MetricValue:
    """1 if the slides of a .pptx are higher than wide.

    Args:
        result: its path.
        strict_upstream: files that python-pptx rejects are damaged.
    """
    deck, reason = read_deck(result, as_stored=strict_upstream)
    if deck is None:
        return verdict(met=False, reason=reason)
    width, height = deck.width / 360_000, deck.height / 360_000
    return verdict(deck.width < deck.height, f"the slides are {width:.1f} cm wide and {height:.1f} cm high")
