"""`vlm_judge`: the majority of a judge's votes on one criterion (docs/judges.md)."""

from collections.abc import Sequence
from typing import Any

from backend.domain.judging.criteria import FINAL, Criterion
from backend.domain.judging.judgement import Judgement
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "vlm_judge")
def vlm_judge(result: Any, *, criteria: Sequence[Criterion], part: str = FINAL) -> MetricValue:
    """1 if the criterion is met, with the judge's reason and the first step after which it was met.

    Args:
        result: the judgement, the value of the getter `vlm_judge`.
        criteria: all criteria of the task; set by the evaluation.
        part: name of the criterion: that of the part, or `final`.

    Raises:
        EvaluatorFailed: the judgement does not match the criteria: one is missing, an unknown one is judged, or votes
            are missing.
    """
    return Judgement.from_evidence(result).value(part, criteria)
