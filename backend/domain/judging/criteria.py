"""Criteria of a task for a judge: its parts and its final state, as far as a judge decides them."""

from collections.abc import Iterable, Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.model.task import Frozen, MetricCall, Task

JUDGE = "vlm_judge"
"""Name of the metric and of its getter."""
FINAL = "final"
"""The criterion of the final state."""


class Criterion(Frozen):
    """One state, as text.

    Attributes:
        name: of the part, or `final`.
        text: the required state.
    """

    name: str
    text: str


def criteria_of(task: Task) -> tuple[Criterion, ...]:
    """The criteria of a task in order, the final state last; empty if a judge decides nothing.

    Raises:
        EvaluatorFailed: a call of the judge names a part other than its own, or a part has no text.
    """
    spec = task.evaluator
    criteria = []
    for part in spec.parts:
        if not _asks(part.calls, part.name):
            continue
        if part.each_step:
            raise EvaluatorFailed(
                f"part {part.name}: a model judges at the end, not after each step", code="invalid_criterion"
            )
        criteria.append(Criterion(name=part.name, text=part.text))
    if _asks(spec.calls, FINAL):
        criteria.append(Criterion(name=FINAL, text=spec.text or f"What was asked for is done: {task.instruction}"))
    for criterion in criteria:
        if not criterion.text.strip():
            raise EvaluatorFailed(
                f"part {criterion.name}: it has no text that a model could judge by", code="invalid_criterion"
            )
    if len({criterion.name for criterion in criteria}) != len(criteria):
        raise EvaluatorFailed(
            f"a part is called {FINAL!r}, which is the name of the final state", code="invalid_criterion"
        )
    return tuple(criteria)


def is_judged(spec: Mapping[str, Any]) -> bool:
    """Whether a stored task needs a judge, without full validation."""
    evaluator = spec.get("evaluator") or {}
    calls = [*(evaluator.get("calls") or ())]
    for part in evaluator.get("parts") or ():
        calls += part.get("calls") or ()
    return any(call.get("func") == JUDGE for call in calls)


def _asks(calls: Iterable[MetricCall], name: str) -> bool:
    """Whether the judge decides this part; a call that names another part is an error of the task."""
    named = [call.options.get("part", FINAL) for call in calls if call.func == JUDGE]
    wrong = [other for other in named if other != name]
    if wrong:
        raise EvaluatorFailed(f"{JUDGE} of {name!r} asks for {str(wrong[0])[:100]!r}", code="invalid_criterion")
    return bool(named)
