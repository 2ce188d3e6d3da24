"""`evaluate_agent_task_completion`: an evaluation function in Python, in OmniBench's format."""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.errors import MissingEvidence
from backend.domain.evaluators import user_functions
from backend.domain.evaluators.facts import FactValue
from backend.domain.model.score import MetricValue
from backend.domain.omnibench.expression import DIALECT
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "evaluate_agent_task_completion", dialect=DIALECT)
def evaluate_agent_task_completion(
    result: Sequence[FactValue], *, source: str, values: Mapping[str, Any]
) -> MetricValue:
    """The function's result on the known facts, 1 or 0, with its message as reason.

    Raises:
        MissingEvidence: it needs a check that was not collected.
        EvaluatorFailed: it crashed, or tried something forbidden.
    """
    answer = user_functions.run(source, values, {user_functions.key_of(value.fact): value.holds() for value in result})
    if answer.missing:
        raise MissingEvidence(answer.missing)
    return MetricValue(
        value=float(answer.success), reasons=(answer.message,) if answer.message else (), progress=answer.progress
    )
