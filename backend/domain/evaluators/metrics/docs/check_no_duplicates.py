"""`check_no_duplicates`: every train of a document occurs once."""

from collections import Counter

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short
from backend.domain.evaluators.metrics.docs._documents import compare_documents, first_wrong
from backend.domain.evaluators.metrics.docs._trains import trains
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_no_duplicates")
def check_no_duplicates(result: str | None, expected: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """1 if the result has the same trains as the other document, each once.

    Args:
        result: path of the document to judge.
        expected: path of a document with the same trains, before or after.
        strict_upstream: the other document must have each train once, and the result may repeat: upstream swaps the
            arguments.
    """

    def judge(actual: Counter[str], expected: Counter[str]) -> MetricValue:
        if not expected and not strict_upstream:
            raise EvaluatorFailed("the expected document names no train", code="invalid_reference")
        repeated = expected if strict_upstream else actual
        wrong = [f"train {short(train)} occurs {times} times" for train, times in repeated.items() if times > 1]
        wrong += [f"train {short(train)} is missing" for train in expected if train not in actual]
        wrong += [f"train {short(train)} is unexpected" for train in actual if train not in expected]
        return first_wrong(wrong, f"all {len(expected)} trains occur once")

    return compare_documents(result, expected, trains, judge, as_stored=strict_upstream)
