"""`check_structure_sim_resized`: two pictures of different sizes have the same structure."""

from typing import TYPE_CHECKING

from backend.domain.evaluators.metrics._pictures import pair
from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.evaluators.metrics.gimp._structure import LIKENESS, similar
from backend.domain.formats.pictures import has_alpha
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from PIL.Image import Image


@register(PluginKind.METRIC, "check_structure_sim_resized")
def check_structure_sim_resized(
    result: str | None, expected: str | None, *, strict_upstream: bool = False
) -> MetricValue:
    """1 if the picture, without its transparent margin and scaled to the expected size, has the expected structure.

    Args:
        result: path of the agent's picture.
        expected: path of the expected picture.
        strict_upstream: read the pictures as upstream does, without EXIF orientation and clipped at 255.

    Raises:
        EvaluatorFailed: the expected picture cannot be read.
    """
    picture, gold, reason = pair(result, expected, as_stored=strict_upstream)
    if picture is None:
        return verdict(met=False, reason=reason)
    content = _content(picture)
    if content is None:
        return verdict(met=False, reason="the picture is fully transparent")
    return verdict(*similar(content.resize(gold.size), gold, LIKENESS))


def _content(picture: "Image") -> "Image | None":
    if not has_alpha(picture):
        return picture
    box = picture.convert("RGBA").getchannel("A").getbbox()
    return None if box is None else picture.convert("RGBA").crop(box).convert("RGB")
