"""How long each episode of a run should take: found at submission, looked at again as others end."""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from datetime import timedelta
from statistics import median
from typing import Protocol, TypeVar
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Run
from backend.db.repositories import durations as repository
from backend.db.repositories import episodes, runs
from backend.domain.loop import DEFAULT_MAX_STEPS
from backend.domain.run import Budget, RunConfig
from backend.domain.scheduling.expected import History, TaskFacts, expected

LOOK_AGAIN = timedelta(minutes=1)
AT_ONCE = 5
"""Runs that one look brings up to date."""
_K = TypeVar("_K", bound=Hashable)


class Known(Protocol):
    """What is read of a task."""

    id: UUID
    domain: str
    difficulty: str | None
    level: str | None


def expectations(session: Session, run: Run, tasks: Iterable[tuple[Known, int | None]]) -> dict[UUID, float]:
    """Expected seconds by task.

    Args:
        session: the transaction.
        run: whose agent and budget count.
        tasks: each with its own step budget, if it has one.
    """
    budget = RunConfig.model_validate(run.config).budget
    facts = {task.id: _facts(task, budget, own) for task, own in tasks}
    history = _history(session, facts, run.agent_id)
    return {key: expected(task, history) for key, task in facts.items()}


def stale_runs(session: Session) -> list[UUID]:
    """Runs whose waiting episodes are to be looked at again."""
    return repository.stale(session, episodes.now(session) - LOOK_AGAIN, AT_ONCE)


def renew(session: Session, run_id: UUID) -> int:
    """Brings a run's waiting episodes up to date; how many have changed."""
    run = runs.get(session, run_id)
    if run is None:
        return 0
    waiting = [(row, row.max_steps) for row in repository.waiting_tasks(session, run_id)]
    found = expectations(session, run, waiting)
    runs.lock(session, run_id)  # Only now: nobody's step waits while the past is read.
    return repository.write(session, run_id, found)


def _facts(task: Known, budget: Budget, own: int | None) -> TaskFacts:
    steps = budget.steps_of(task.level, own) or DEFAULT_MAX_STEPS
    return TaskFacts(task.id, task.domain, task.difficulty, steps)


def _history(session: Session, tasks: dict[UUID, TaskFacts], agent_id: UUID) -> History:
    rows = repository.past(session, tasks, agent_id)
    mine = [row for row in rows if row.own]
    alike = ((tasks[row.task_id].domain, tasks[row.task_id].difficulty) for row in mine)
    steps = [row.seconds / row.steps for row in mine if row.steps]
    return History(
        own=_medians((row.task_id, row.seconds) for row in mine),
        others=_medians((row.task_id, row.seconds) for row in rows),
        alike=_medians(zip(alike, (row.seconds for row in mine), strict=True)),
        step=median(steps) if steps else None,
    )


def _medians(pairs: Iterable[tuple[_K, float]]) -> dict[_K, float]:
    found: dict[_K, list[float]] = defaultdict(list)
    for key, value in pairs:
        found[key].append(value)
    return {key: median(values) for key, values in found.items()}
