"""`evaluate_agent_task_completion`: an evaluation function in Python, as OmniBench's files have them."""

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
    """What the function says of the facts that are known, 1 or 0; its message is the reason.

    Raises:
        MissingEvidence: it asks for a check that was not gathered.
        EvaluatorFailed: it broke, or tried what it may not.
    """
    answer = user_functions.run(source, values, {user_functions.key_of(value.fact): value.holds() for value in result})
    if answer.wanted:
        raise MissingEvidence(answer.wanted)
    return MetricValue(
        value=float(answer.success), reasons=(answer.message,) if answer.message else (), progress=answer.progress
    )
