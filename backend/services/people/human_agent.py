"""A person's actions in a run of the agent `human`: judge feasibility, act, rate, try again. See docs/human.md."""

import glob
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Actor, Attempt, Episode, Project, Run, Task
from backend.db.models.enums import Purpose
from backend.db.repositories.benchmarks import benchmarks
from backend.db.repositories.capacity import workers
from backend.db.repositories.people import human_agent as repository
from backend.db.repositories.runs import episodes, runs
from backend.domain.errors import Conflict, Invalid, NotFound
from backend.domain.model.episode import EpisodeState, RunState
from backend.domain.solutions.screen import describe
from backend.domain.solutions.steps import read_solution
from backend.services.benchmarks.variants import task_of
from backend.services.capacity import maintenance_mode
from backend.services.capacity.run_request import RunRequest
from backend.services.events import worker_wakeup
from backend.services.lifecycle.human_runs import LATER, is_lost, seconds_of
from backend.services.runs.runs import get_run, submit_run

RATINGS = {1: "easy", 2: "medium", 3: "hard"}


class NextAction(StrEnum):
    """The person's next action in a run."""

    JUDGE = "judge"  # is the task feasible? asked before its desktop is shown
    RETRY = "retry"  # the desktop was lost: restart, with the feasibility answer kept
    ACT = "act"  # the desktop is ready
    RATE = "rate"  # how hard was it?
    LEARN = "learn"  # it was not solved: the solution, and a second try
    END = "end"


@dataclass(frozen=True)
class CompletedTask:
    """A task done by a person. `seconds`: time of acting; `feasible`, `rating`: their answers."""

    episode: Episode
    task: Task
    steps: int
    seconds: float
    feasible: bool | None
    rating: int | None
    second_try: dict[str, Any]


@dataclass(frozen=True)
class HumanRunState:
    """A person's position in a run.

    Attributes:
        next: next action, with `episode` and `task` (None at the end).
        number: of that task, from 1; total: runnable tasks of the run.
        solution: its steps as text, if it is to be shown and exists.
        done: rated tasks, newest last. Only these may show whether they were solved.
        first_run: for a second try: the run of the first one.
    """

    run: Run
    next: NextAction
    episode: Episode | None
    task: Task | None
    number: int
    total: int
    solution: Sequence[str]
    done: Sequence[CompletedTask]
    first_run: str = ""


def is_human(session: Session, run_id: UUID) -> bool:
    """Whether a person acts in that run."""
    agent = repository.agent_of(session, run_id)
    return agent is not None and agent.human


def desk(session: Session, run_id: UUID) -> HumanRunState:
    """A person's position in a run.

    Raises:
        NotFound: there is no such run, or its agent is not a person.
    """
    run = get_run(session, run_id)
    if not is_human(session, run_id):
        raise NotFound("no person acts in this run", code="run_not_human", hint="Submit one with the agent `human`.")
    rows = [row for row in repository.newest(session, run_id) if row.Episode.state != EpisodeState.NOT_RUNNABLE]
    at, step = _next(run, rows)
    row = None if at is None else rows[at]
    learning = row is not None and step is NextAction.LEARN
    return HumanRunState(
        run=run,
        next=step,
        episode=None if row is None else row.Episode,
        task=None if row is None else row.Task,
        number=0 if at is None else at + 1,
        total=len(rows),
        solution=solution(session, row.Task, run) if learning and row is not None else (),
        done=[
            _completed_task(row)
            for row in rows
            if row.Attempt is not None and _person_value(row.Attempt, "rating") is not None
        ],
        first_run=str((rows[0].Episode.human_feedback or {}).get("first_run", "")) if rows else "",
    )


def _next(run: Run, rows: Sequence[Any]) -> tuple[int | None, NextAction]:
    """The first episode that needs an action."""
    going = [at for at, row in enumerate(rows) if _under_way(row.Episode)]
    if going:
        return going[0], NextAction.ACT
    unrated = run.purpose in {Purpose.PRACTICE, Purpose.RECORD}
    for at, row in enumerate(rows):
        if row.Episode.state != EpisodeState.SCORED or unrated:
            continue
        if _person_value(row.Attempt, "rating") is None:
            return at, NextAction.RATE
        if not row.Episode.solved and _person_value(row.Attempt, "second_try") is None:
            return at, NextAction.LEARN
    if RunState(run.state) in {RunState.QUEUED, RunState.RUNNING}:
        for at, row in enumerate(rows):
            if row.Episode.state == EpisodeState.WAITING:
                return at, NextAction.RETRY if is_lost(row.Episode) else NextAction.JUDGE
    return None, NextAction.END


def _under_way(episode: Episode) -> bool:
    """Whether it has a desktop or is waiting for one."""
    waits = episode.state == EpisodeState.WAITING and episode.available_at < LATER
    return waits or episode.state == EpisodeState.RUNNING


def _person_value(attempt: Attempt | None, name: str) -> Any:
    return None if attempt is None else (attempt.human_feedback or {}).get(name)


def _completed_task(row: Any) -> CompletedTask:
    answers = row.Attempt.human_feedback or {}
    return CompletedTask(
        episode=row.Episode,
        task=row.Task,
        steps=row.Attempt.current_step,
        seconds=seconds_of(row.Attempt.seconds),
        feasible=answers.get("feasible"),
        rating=answers.get("rating"),
        second_try=answers.get("second_try") or {},
    )


def solution(session: Session, task: Task, run: Run) -> list[str]:
    """The oracle's steps as text; empty if the task has none."""
    recipe = task_of(session, task, run.config).oracle
    if recipe is None:
        return ["It cannot be done: say Infeasible."] if not task.feasible else []
    steps = read_solution(recipe)
    return [f"{step.note}: {describe(step)}" if step.note else describe(step) for step in steps]


def begin(session: Session, run_id: UUID, episode_id: UUID, *, feasible: bool) -> Episode:
    """The person has answered feasibility: a desktop is created.

    Raises:
        Conflict: another task of the run is active, or this one has started.
        NotFound: The run has no such episode.
    """
    run = _lock_run(session, run_id)
    rows = repository.newest(session, run_id)
    if any(_under_way(row.Episode) for row in rows):
        raise Conflict(
            "another task of this run is in progress",
            code="task_in_progress",
            hint=f"Finish it first: open /runs/{run_id}/human.",
        )
    episode = _episode(session, run, episode_id)
    if episode.state != EpisodeState.WAITING:
        raise Conflict(f"the task has already started: it is {episode.state}", code="task_already_started")
    _start(session, episode, {"feasible": feasible})
    return episode


def _start(session: Session, episode: Episode, facts: dict[str, Any]) -> None:
    episode.human_feedback = {**(episode.human_feedback or {}), **facts}
    maintenance_mode.refuse_in_maintenance(session)
    episode.available_at, episode.reason, episode.reason_code = workers.now(session), "", None
    worker_wakeup.wake_workers(session)


def rate(session: Session, run_id: UUID, episode_id: UUID, rating: int) -> None:
    """Stores the difficulty: 1 easy, 2 medium, 3 hard. The first rating stays.

    Raises:
        Conflict: the task has not ended, or is rated already.
        Invalid: The rating is not valid.
    """
    if rating not in RATINGS:
        raise Invalid("expected 1, 2 or 3", code="invalid_request", path="rating")
    attempt = _ended_attempt(session, run_id, episode_id)
    if _person_value(attempt, "rating") is not None:
        raise Conflict("the task is already rated", code="already_rated")
    attempt.human_feedback = {**(attempt.human_feedback or {}), "rating": rating}


def go_on(session: Session, run_id: UUID, episode_id: UUID) -> None:
    """Declines the second try. Safe to call twice."""
    attempt = _ended_attempt(session, run_id, episode_id)
    if _person_value(attempt, "second_try") is None:
        attempt.human_feedback = {**(attempt.human_feedback or {}), "second_try": {}}


def try_again(session: Session, run_id: UUID, episode_id: UUID, *, project: Project, actor: Actor) -> Episode:
    """Starts a second try to count steps: in its own run, which no leaderboard counts.

    Raises:
        Conflict: it has not ended, was solved, or had its second try.
    """
    attempt = _ended_attempt(session, run_id, episode_id)
    run = get_run(session, run_id)
    episode = _episode(session, run, episode_id)
    if episode.solved or _person_value(attempt, "second_try") is not None:
        raise Conflict("the task needs no second try, or has had it", code="no_second_try")
    key = next(row.Task.key for row in repository.newest(session, run_id) if row.Episode.id == episode_id)
    request = RunRequest.model_validate(
        {
            **run.config,
            "benchmark": benchmarks.name_of(session, run.task_set_id),
            "tasks": [glob.escape(key)],
            "repeats": 1,
            "purpose": Purpose.PRACTICE.value,
            "name": f"Second try of {key}",
            "preset": None,
        }
    )
    again = submit_run(session, request, project=project, actor=actor)
    session.flush()  # Its episode is read below.
    second: Episode = repository.newest(session, again.id)[0].Episode
    attempt.human_feedback = {**(attempt.human_feedback or {}), "second_try": {"episode": str(second.id)}}
    _start(session, second, {"feasible": True, "second_try_of": str(attempt.id), "first_run": str(run_id)})
    return second


def _lock_run(session: Session, run_id: UUID) -> Run:
    run = runs.lock(session, run_id)
    if run is None or not is_human(session, run_id):
        raise NotFound("there is no run with this id in which a person acts", code="run_not_found")
    return run


def _episode(session: Session, run: Run, episode_id: UUID) -> Episode:
    episode = episodes.lock(session, episode_id)
    if episode is None or episode.run_id != run.id:
        raise NotFound("this run has no such episode", code="episode_not_found")
    return episode


def _ended_attempt(session: Session, run_id: UUID, episode_id: UUID) -> Attempt:
    episode = _episode(session, _lock_run(session, run_id), episode_id)
    attempt = repository.attempt_of(session, episode_id)
    if attempt is None or episode.state != EpisodeState.SCORED:
        raise Conflict("the task has not ended", code="task_not_ended", hint="Press Done or Infeasible on its page.")
    return attempt
