"""Scores of the three validation agents on a task, and whether the task is sound."""

from collections.abc import Mapping
from datetime import datetime

from pydantic import Field

from backend.db.models import Task, TaskValidation
from backend.domain.model.reason import ReasonCode
from backend.domain.model.run import VALIDATION_AGENTS
from backend.domain.model.score import is_solved
from backend.services.read_model import ReadModel


class Validation(ReadModel):
    """Scores of oracle, noop and always_fail on one task, and whether it is sound."""

    task: str
    feasible: bool
    oracle: float | None
    noop: float | None
    always_fail: float | None
    sound: bool | None = Field(description="null: not validated, or not all three have ended.")
    reason: str = Field(description="Why it is not sound, or why nothing is known.")
    reason_code: ReasonCode | None = Field(default=None, description="Why it is not runnable here.")
    outcomes: dict[str, str] = Field(description="How each agent's episode ended.", examples=[{"oracle": "scored"}])
    validated_at: datetime | None = Field(description="When the newest of the three results was stored.")

    @property
    def scores(self) -> dict[str, float | None]:
        """By agent."""
        return {agent: getattr(self, agent) for agent in VALIDATION_AGENTS}


def validation_of(task: Task, results: Mapping[str, TaskValidation]) -> Validation:
    """Built from the newest result of each agent."""
    wrong = _wrong(task, results)
    scores = {agent: results[agent].score if agent in results else None for agent in VALIDATION_AGENTS}
    return Validation(
        task=task.key,
        feasible=task.feasible,
        **scores,
        sound=None if wrong is None else not wrong,
        reason="; ".join(wrong or ()),
        outcomes={agent: row.outcome for agent, row in results.items()},
        validated_at=max((row.created_at for row in results.values()), default=None),
    )


def _wrong(task: Task, results: Mapping[str, TaskValidation]) -> list[str] | None:
    scores = {agent: row.score for agent, row in results.items() if row.score is not None}
    return wrongs(feasible=task.feasible, scores=scores) if scores.keys() >= set(VALIDATION_AGENTS) else None


def wrongs(*, feasible: bool, scores: Mapping[str, float]) -> list[str]:
    """Problems of a task with these scores of the validation agents.

    On a sound task the oracle scores 1 and the no-op 0; always-FAIL scores 1 if the task is infeasible, else 0.
    """
    problems = []
    if not is_solved(scores["oracle"]):
        problems.append(f"the oracle scores {scores['oracle']:g}, not 1")
    if scores["noop"] != 0.0:
        problems.append(f"doing nothing scores {scores['noop']:g}, not 0")
    if feasible and scores["always_fail"] != 0.0:
        problems.append(f"saying FAIL scores {scores['always_fail']:g} on a feasible task, not 0")
    if not feasible and not is_solved(scores["always_fail"]):
        problems.append(f"saying FAIL scores {scores['always_fail']:g} on an infeasible task, not 1")
    return problems
