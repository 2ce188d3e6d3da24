"""`compare_unique_train_records`: one line per train is left."""

from collections.abc import Sequence

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short
from backend.domain.evaluators.metrics.docs._documents import expectation, first_wrong, judge_document
from backend.domain.evaluators.metrics.docs._trains import lines, trains_of
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_FILES = 2


@register(PluginKind.METRIC, "compare_unique_train_records")
def compare_unique_train_records(
    result: str | None, expected: Sequence[str | None], *, strict_upstream: bool = False
) -> MetricValue:
    """1 if each line existed before, no train occurs twice, and trains and number of lines are as expected.

    Args:
        result: path of the document to judge.
        expected: paths of the expected document and of the original.
        strict_upstream: see only what upstream sees of a document, direct runs and links of its paragraphs.
    """
    if isinstance(expected, str) or not isinstance(expected, Sequence) or len(expected) < _FILES:
        raise EvaluatorFailed(
            "the expectation must be two documents: the expected one and the original", code="invalid_reference"
        )
    gold, before = (expectation(path, lines, as_stored=strict_upstream) for path in expected[:_FILES])
    known = set(before)

    def judge(records: list[str]) -> MetricValue:
        times, expected_times = trains_of(records), trains_of(gold)
        wrong = [
            f"the line {short(line)} is not in the original" for line in dict.fromkeys(records) if line not in known
        ]
        wrong += [f"train {short(train)} occurs {number} times" for train, number in times.items() if number > 1]
        wrong += [f"train {short(train)} is missing" for train in expected_times if train not in times]
        wrong += [f"train {short(train)} is unexpected" for train in times if train not in expected_times]
        wrong += [f"{len(records)} lines, expected {len(gold)}"] * (len(records) != len(gold))
        return first_wrong(wrong, f"all {len(expected_times)} trains occur once")

    return judge_document(result, lines, judge, as_stored=strict_upstream)
