"""Event log of a run, in Postgres, with notifications over the broker."""

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Event, Run
from backend.db.repositories.events import events as repository
from backend.db.repositories.events.events import NewEvent
from backend.db.session import after_commit
from backend.services.events import broker


class EventKind(StrEnum):
    """Kinds of events of a run."""

    RUN_SUBMITTED = "run_submitted"
    RUN_STATE = "run_state"
    RUN_TUNED = "run_tuned"
    EPISODE_STATE = "episode_state"
    ATTEMPT_STARTED = "attempt_started"
    ATTEMPT_OPENING = "attempt_opening"
    ATTEMPT_STATE = "attempt_state"
    STEP = "step"
    EVALUATION = "evaluation"
    FLAG = "flag"


def run_channel(run_id: UUID) -> str:
    """Pub/sub channel of a run's events."""
    return f"deskarena:run:{run_id}"


def append(  # noqa: PLR0913 - two optional references
    session: Session,
    run: Run,
    kind: EventKind,
    data: dict[str, Any],
    *,
    episode_id: UUID | None = None,
    attempt_id: UUID | None = None,
) -> int:
    """Appends an event to the run's log and, after the commit, notifies listeners. Returns its `seq`.

    Args:
        session: the transaction in which it happened.
        run: run of the event; its row is locked until the commit.
        kind: kind of event.
        data: small; pictures and texts are stored elsewhere.
        episode_id: which episode, if one.
        attempt_id: which attempt, if one.
    """
    seq = repository.append(session, run.id, kind.value, data, episode_id=episode_id, attempt_id=attempt_id)
    _tell(session, run.id, seq)
    return seq


def append_all(session: Session, by_run: Mapping[UUID, Sequence[NewEvent]]) -> None:
    """`append` for many events of several runs, all locked until the commit."""
    for run_id, seq in repository.append_all(session, by_run).items():
        _tell(session, run_id, seq)


def _tell(session: Session, run_id: UUID, seq: int) -> None:
    message = json.dumps({"run": str(run_id), "seq": seq})
    channel = run_channel(run_id)
    after_commit(session, channel, lambda: broker.current().call(lambda client: client.publish(channel, message), None))


def list_after(session: Session, run_id: UUID, seq: int = 0, limit: int = 500) -> list[Event]:
    """The run's events with a higher number than `seq`, in order."""
    return repository.after(session, run_id, seq, limit)


def newest_seq(session: Session, run_id: UUID) -> int:
    """Number of the run's newest event; 0 without events."""
    return repository.newest_seq(session, run_id)


def newest_id(session: Session) -> UUID | None:
    """Id of the newest event of any run: changes whenever something happens."""
    return repository.newest_id(session)
