"""Cases of the metrics that read a judgement."""

from tests.factories.judging import CRITERIA, answer, judgement
from tests.factories.metric_cases import Call, MetricCase


def judged(*, final: bool) -> Call:
    """A call on a judgement of the final state."""
    judged_result = judgement(answer(opened=True, final=final)).model_dump(mode="json")
    return Call((judged_result,), {"criteria": CRITERIA, "part": "final"})


CASES = {
    "vlm_judge": MetricCase(
        passing=lambda _: judged(final=True),
        near_miss=lambda _: judged(final=False),
        of_file=False,
    )
}
