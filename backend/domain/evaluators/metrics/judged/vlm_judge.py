"""`vlm_judge`: what the majority of a judge's votes says of one criterion (docs/judges.md)."""

from collections.abc import Sequence
from typing import Any

from backend.domain.judging.criteria import FINAL, Criterion
from backend.domain.judging.judgement import Judgement
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "vlm_judge")
def vlm_judge(result: Any, *, criteria: Sequence[Criterion], part: str = FINAL) -> MetricValue:
    """1 if the criterion is met, with the judge's reason and the step after which it was first so.

    Args:
        result: the judgement, of the getter `vlm_judge`.
        criteria: all of the task's; the evaluation fills them in.
        part: name of the criterion: that of the part, or `final`.

    Raises:
        EvaluatorFailed: the judgement does not fit the criteria: one is left out, another one is judged, a vote lacks.
    """
    return Judgement.of(result).value(part, criteria)
