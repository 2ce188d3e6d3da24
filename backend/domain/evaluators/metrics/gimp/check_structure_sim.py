"""`check_structure_sim`: two pictures have the same structure."""

from backend.domain.evaluators.metrics._pictures import pair
from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.evaluators.metrics.gimp._structure import LIKENESS, same_structure
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_file_exists_and_structure_sim")
@register(PluginKind.METRIC, "check_structure_sim")
def check_structure_sim(result: str | None, expected: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """1 if the pictures have the same size and a structural similarity of 0.9 or more.

    Args:
        result: path of the agent's picture.
        expected: path of the expected picture. Its transparent areas must be transparent in the result.
        strict_upstream: ignore transparency and EXIF orientation.

    Raises:
        EvaluatorFailed: the expected picture cannot be read.
    """
    picture, gold, reason = pair(result, expected, as_stored=strict_upstream)
    if picture is None:
        return verdict(met=False, reason=reason)
    return verdict(*same_structure(picture, gold, LIKENESS, strict=strict_upstream))
