"""Validation of tasks: the three validation agents and the scores that they must get."""

from backend.domain.model.score import SOLVED_TOLERANCE
from backend.domain.model.task import Task


def expected_score(task: Task, agent: str) -> float:
    """The score that a validation agent must get on a sound task.

    The oracle solves every task, an infeasible one by answering FAIL. No-op scores 0. Always-fail scores 1 on
    infeasible tasks only.

    Args:
        task: the task.
        agent: one of VALIDATION_AGENTS.

    Raises:
        KeyError: the agent is not a validation agent.
    """
    feasible = not task.evaluator.infeasible
    return {"oracle": 1.0, "noop": 0.0, "always_fail": 0.0 if feasible else 1.0}[agent]


def is_sound(task: Task, agent: str, score: float) -> bool:
    """Whether a validation agent got the score that it must get."""
    return abs(score - expected_score(task, agent)) <= SOLVED_TOLERANCE
