"""Estimated duration of each episode: computed at submission, updated as others end."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Protocol
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Run
from backend.db.repositories.runs import durations as repository
from backend.db.repositories.runs import runs
from backend.domain.loop.agent_loop import DEFAULT_MAX_STEPS
from backend.domain.model.run import Budget, RunConfig
from backend.domain.scheduling.duration_estimate import DurationHistory, TaskFacts, expected_seconds
from backend.services.runs.config_cache import UnreadableConfig, config_of

LOOK_AGAIN = timedelta(minutes=1)
AT_ONCE = 5
"""Runs updated per round."""


class TaskTraits(Protocol):
    """The fields of a task that are used."""

    id: UUID
    domain: str
    difficulty: str | None
    level: str | None


def expectations(session: Session, run: Run, tasks: Iterable[tuple[TaskTraits, int | None]]) -> dict[UUID, float]:
    """Expected seconds by task.

    Args:
        session: the transaction.
        run: with agent and budget.
        tasks: with their own step budgets, if any.
    """
    budget = RunConfig.model_validate(run.config).budget
    facts = {task.id: _facts(task, budget, own) for task, own in tasks}
    history = _history(session, facts, run)
    return {key: expected_seconds(task, history) for key, task in facts.items()}


def take_turn(session: Session) -> UUID | None:
    """A run whose waiting episodes need an update, claimed by the caller; commit before `renew`."""
    return repository.take_turn(session, LOOK_AGAIN)


def renew(session: Session, run_id: UUID) -> int:
    """Updates a run's waiting episodes; returns the number of changes. Unreadable runs are skipped."""
    run = runs.get(session, run_id)
    if run is None:
        return 0
    try:
        config_of(run_id, run.config)
    except UnreadableConfig:
        return 0
    waiting = [(row, row.max_steps) for row in repository.waiting_tasks(session, run_id)]
    rows = expectations(session, run, waiting)
    runs.lock(session, run_id)  # Locked only now, so that no step waits while past runs are read.
    return repository.write(session, run_id, rows)


def _facts(task: TaskTraits, budget: Budget, own: int | None) -> TaskFacts:
    steps = budget.steps_of(task.level, own) or DEFAULT_MAX_STEPS
    return TaskFacts(task.id, task.domain, task.difficulty, steps)


def _history(session: Session, tasks: dict[UUID, TaskFacts], run: Run) -> DurationHistory:
    rows = repository.medians(session, tasks, run.agent_configuration_id, run.task_set_id)
    return DurationHistory(
        own={row.task_id: row.seconds for row in rows if row.kind == "own"},
        others={row.task_id: row.seconds for row in rows if row.kind == "others"},
        alike={(row.domain, row.difficulty): row.seconds for row in rows if row.kind == "alike"},
        step=next((row.seconds for row in rows if row.kind == "step"), None),
    )
