"""`is_included_all_json_objects`: a JSON object includes all entries of another."""

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import Goal, share_of_goals, short, verdict
from backend.domain.formats.json_values import compare
from backend.domain.formats.jsons import read_json
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "is_included_all_json_objects")
def is_included_all_json_objects(
    result: str | None, expected: str | None, *, strict_upstream: bool = False
) -> MetricValue:
    """1 if every key of the expected file has the same value in the result's.

    Args:
        result: path of the file to judge.
        expected: path of the file with the required entries.
        strict_upstream: as published, the arguments are swapped, so that `{}` passes; `true` equals 1.
    """
    gold, reason = read_json(expected)
    if reason or not isinstance(gold, dict):
        raise EvaluatorFailed(f"expected file: {reason or 'not a JSON object'}", code="invalid_reference")
    actual, reason = read_json(result)
    if reason or not isinstance(actual, dict):
        return verdict(met=False, reason=reason or "the file is not a JSON object")
    if strict_upstream:
        actual, gold = gold, actual
    if not gold:
        return verdict(met=True, reason="the expectation is empty")
    goals: list[Goal] = [
        (
            key in actual and compare("eq", actual[key], value, by_type=not strict_upstream),
            f"{key} is {short(actual.get(key))}, expected {short(value)}",
        )
        for key, value in gold.items()
    ]
    return share_of_goals(goals, partial=False)
