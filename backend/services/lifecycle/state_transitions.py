"""The one place where runs, episodes and attempts change state: checked, written, logged as an event.

Except for the start of attempts, of which there may be hundreds per second: `services.scheduling.attempt_start`.
"""

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Attempt, Episode, Run
from backend.db.repositories.runs import episodes as episode_repository
from backend.db.repositories.runs import runs as run_repository
from backend.db.repositories.scheduling import scheduler
from backend.domain.model.episode import (
    ATTEMPT_MOVES,
    EPISODE_MOVES,
    RUN_MOVES,
    AttemptState,
    EpisodeState,
    RunState,
    check_move,
)
from backend.services import events
from backend.services.events import EventKind


def move(session: Session, run: Run, thing: Run | Episode | Attempt, new: StrEnum, **values: Any) -> None:
    """Changes the state of `thing` to `new`, with further values.

    Args:
        session: the transaction.
        run: the run it belongs to, locked by the caller (`repositories.runs.runs.lock`).
        thing: the run itself, or one of its episodes or attempts.
        new: a RunState, EpisodeState or AttemptState, according to `thing`.
        values: further columns, for example `ended_by`.

    Raises:
        IllegalTransition: The domain does not allow it.
    """
    old = thing.state
    data: dict[str, Any] = {"from": str(old), "to": str(new)}
    if isinstance(thing, Run):
        check_move(RUN_MOVES, RunState(old), RunState(new))
    elif isinstance(thing, Episode):
        check_move(EPISODE_MOVES, EpisodeState(old), EpisodeState(new))
        run.rollup_stale = True
        if EpisodeState(old) is EpisodeState.RUNNING:
            scheduler.ended(session, run.id)
    else:
        check_move(ATTEMPT_MOVES, AttemptState(old), AttemptState(new))
        thing.live = not AttemptState(new).ended
    thing.state = str(new)
    for name, value in values.items():
        setattr(thing, name, value)
    _log(session, run, thing, data | _to_payload(values))


def move_all(  # noqa: PLR0913 - which ones, and to what
    session: Session,
    run: Run,
    old: EpisodeState,
    new: EpisodeState,
    *,
    failures: Sequence[str] = (),
    tasks: Collection[UUID] | None = None,
    **values: Any,
) -> int:
    """Changes all of a run's episodes from one state to another, logged as one event with their number.

    Args:
        session: the transaction; loaded episodes are not refreshed.
        run: locked by the caller.
        old: current state.
        new: target state.
        failures: only episodes lost with these failure classes.
        tasks: only episodes of these tasks.
        values: further columns.

    Returns:
        Number of episodes.

    Raises:
        IllegalTransition: The domain does not allow it.
    """
    check_move(EPISODE_MOVES, old, new)
    session.flush()
    written = {"state": str(new), **values}
    number = episode_repository.write_all(session, run.id, old, written, failures=failures, tasks=tasks)
    if number and old is EpisodeState.RUNNING:
        scheduler.ended(session, run.id, number)
    if number:
        run.rollup_stale = True
        data = {"from": str(old), "to": str(new), "count": number}
        events.append(session, run, EventKind.EPISODE_STATE, data | _to_payload(values))
    return number


def settle(session: Session, run: Run) -> None:
    """Completes the run if it is not open and none of its episodes waits or runs."""
    if run.accepts_episodes or RunState(run.state) in {RunState.COMPLETED, RunState.CANCELLED}:
        return
    session.flush()  # The question below has to see the move that has just been made.
    if not run_repository.unfinished(session, run.id):
        move(session, run, run, RunState.COMPLETED, ended_at=episode_repository.now(session))


def _log(session: Session, run: Run, thing: Run | Episode | Attempt, data: dict[str, Any]) -> None:
    if isinstance(thing, Run):
        events.append(session, run, EventKind.RUN_STATE, data)
    elif isinstance(thing, Episode):
        events.append(session, run, EventKind.EPISODE_STATE, data, episode_id=thing.id)
    else:
        data["number"] = thing.number
        events.append(session, run, EventKind.ATTEMPT_STATE, data, episode_id=thing.episode_id, attempt_id=thing.id)


_IN_EVENTS = ("outcome", "ended_by", "failure_class", "score", "solved", "reason")


def _to_payload(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values with which a listener can show the change without reading the row."""
    return {name: values[name] for name in _IN_EVENTS if values.get(name) not in {None, ""}}
