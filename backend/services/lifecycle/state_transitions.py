"""The only module that changes states of runs, episodes and attempts: validated, written, logged as events.

Except for the start of attempts, of which there may be hundreds per second: `services.scheduling.attempt_start`.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, TypedDict, Unpack
from uuid import UUID

from sqlalchemy.orm import InstrumentedAttribute, Session

from backend.db.models import Attempt, Episode, Run
from backend.db.repositories.capacity import workers as worker_repository
from backend.db.repositories.runs import episodes as episode_repository
from backend.db.repositories.runs import runs as run_repository
from backend.db.repositories.scheduling import scheduler
from backend.db.session import after_commit
from backend.domain.model.episode import (
    ATTEMPT_MOVES,
    ENDED_RUNS,
    EPISODE_MOVES,
    RUN_MOVES,
    AttemptState,
    EpisodeState,
    RunState,
    check_move,
)
from backend.domain.model.reason import Reason
from backend.services import events
from backend.services.events import EventKind, outbox
from backend.telemetry.metrics import ATTEMPTS_ENDED


class RunChange(TypedDict, total=False):
    """Columns of a run that may be written with its move."""

    accepts_episodes: bool
    ended_at: datetime | None
    last_scheduled_at: datetime


class ReasonColumns(TypedDict):
    """Columns of why an episode waits or cannot run."""

    reason: str
    reason_code: str | None


class EpisodeChange(TypedDict, total=False):
    """Columns of an episode that may be written with its move. `retry_baseline` may be set from another column."""

    available_at: datetime
    ended_at: datetime | None
    ended_by: str | None
    failure_class: str | None
    failure_code: str | None
    failure_message: str
    flag_reason: str
    flagged: bool
    outcome: str | None
    reason: str
    reason_code: str | None
    retry_baseline: int | InstrumentedAttribute[int]
    score: float | None
    solved: bool | None
    steps: int


class AttemptChange(TypedDict, total=False):
    """Columns of an attempt that may be written with its move."""

    after_action: bool
    ended_at: datetime
    ended_by: str
    failure_class: str | None
    failure_code: str | None
    failure_message: str
    first_observation_at: datetime
    seconds: Mapping[str, float]


def reason_columns(reason: Reason | None) -> ReasonColumns:
    """Of a reason; None = it neither waits for something nor cannot run."""
    return {"reason": reason.text if reason else "", "reason_code": reason.code.value if reason else None}


def wait_columns(available_at: datetime, reason: Reason | None) -> EpisodeChange:
    """Columns of an episode that waits until a moment."""
    columns = reason_columns(reason)
    return {"available_at": available_at, "reason": columns["reason"], "reason_code": columns["reason_code"]}


def move_run(session: Session, run: Run, new: RunState, **change: Unpack[RunChange]) -> None:
    """Moves a run, locked by the caller, with the columns of `change`. Raises IllegalMove."""
    old = RunState(run.state)
    check_move(RUN_MOVES, old, new)
    _write(run, new, change)
    events.append(session, run, EventKind.RUN_STATE, _payload(old, new, change))
    if new in ENDED_RUNS:
        outbox.note_run_end(session, run)


def move_episode(
    session: Session, run: Run, episode: Episode, new: EpisodeState, **change: Unpack[EpisodeChange]
) -> None:
    """Moves an episode of a run that the caller has locked (`repositories.runs.runs.lock`). Raises IllegalMove."""
    old = EpisodeState(episode.state)
    check_move(EPISODE_MOVES, old, new)
    run.rollup_stale = True
    if old is EpisodeState.RUNNING:
        scheduler.count_ended(session, run.id)
    _write(episode, new, change)
    events.append(session, run, EventKind.EPISODE_STATE, _payload(old, new, change), episode_id=episode.id)
    if new is EpisodeState.LOST:
        outbox.note_loss(session, run)


def move_attempt(
    session: Session, run: Run, attempt: Attempt, new: AttemptState, **change: Unpack[AttemptChange]
) -> None:
    """Moves an attempt of a run that the caller has locked. Raises IllegalMove."""
    old = AttemptState(attempt.state)
    check_move(ATTEMPT_MOVES, old, new)
    attempt.live = not new.ended
    if new.ended:
        ended = ATTEMPTS_ENDED.labels(run.provider, new.value, change.get("failure_class") or "")
        after_commit(session, f"attempt ended: {attempt.id}", ended.inc)
    _write(attempt, new, change)
    data = {**_payload(old, new, change), "number": attempt.number}
    events.append(session, run, EventKind.ATTEMPT_STATE, data, episode_id=attempt.episode_id, attempt_id=attempt.id)


def move_episodes(  # noqa: PLR0913 - which ones, and to what
    session: Session,
    run: Run,
    old: EpisodeState,
    new: EpisodeState,
    *,
    failures: Sequence[str] = (),
    tasks: Collection[UUID] | None = None,
    **change: Unpack[EpisodeChange],
) -> int:
    """Changes all of a run's episodes from one state to another, logged as one event with their number.

    Args:
        session: the transaction; loaded episodes are not refreshed.
        run: locked by the caller.
        old: current state.
        new: new state.
        failures: for lost episodes, only these failure classes.
        tasks: only these tasks.
        change: columns to write.

    Returns:
        Number of episodes.

    Raises:
        IllegalMove: The domain does not allow it.
    """
    check_move(EPISODE_MOVES, old, new)
    session.flush()
    written = {"state": str(new), **change}
    number = episode_repository.write_all(session, run.id, old, written, failures=failures, tasks=tasks)
    if number and old is EpisodeState.RUNNING:
        scheduler.count_ended(session, run.id, number)
    if number:
        run.rollup_stale = True
        events.append(session, run, EventKind.EPISODE_STATE, {**_payload(old, new, change), "count": number})
    return number


def settle(session: Session, run: Run) -> None:
    """Completes the run if it is not open and none of its episodes waits or runs."""
    if run.accepts_episodes or RunState(run.state) in ENDED_RUNS:
        return
    session.flush()  # The query below must see the preceding move.
    if not run_repository.unfinished(session, run.id):
        move_run(session, run, RunState.COMPLETED, ended_at=worker_repository.now(session))


def _write(row: Run | Episode | Attempt, new: StrEnum, change: Mapping[str, Any]) -> None:
    row.state = str(new)
    for name, value in change.items():
        setattr(row, name, value)


_IN_EVENTS = ("outcome", "ended_by", "failure_class", "failure_code", "score", "solved", "reason", "reason_code")


def _payload(old: StrEnum, new: StrEnum, change: Mapping[str, Any]) -> dict[str, Any]:
    """Values with which a listener can show the change without reading the row."""
    fields_changed = {name: change[name] for name in _IN_EVENTS if change.get(name) not in {None, ""}}
    return {"from": str(old), "to": str(new), **fields_changed}
