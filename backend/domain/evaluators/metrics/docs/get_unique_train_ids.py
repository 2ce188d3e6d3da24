"""`get_unique_train_ids`: the trains in a document. Upstream's helper, exported among its metrics."""

from collections import Counter

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.evaluators.metrics.docs._documents import judge_document
from backend.domain.evaluators.metrics.docs._trains import trains
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "get_unique_train_ids")
def get_unique_train_ids(result: str | None) -> MetricValue:
    """1 if the document has any train (a line of four fields); the reason has their names and the number of lines.

    Upstream returns names and number, which is not a score.
    """

    def judge(counts: Counter[str]) -> MetricValue:
        return verdict(counts, f"{len(counts)} trains in {counts.total()} lines: {short(sorted(counts))}")

    return judge_document(result, trains, judge)
