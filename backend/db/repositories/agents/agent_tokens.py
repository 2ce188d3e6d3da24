"""Episodes by the token of their external program."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.db.models import Attempt, Episode, Run, Task


def get_locked(session: Session, episode_id: UUID) -> tuple[Episode, Run] | None:
    """The episode, locked, and its run."""
    query = (
        select(Episode, Run)
        .join(Run, Run.id == Episode.run_id)
        .where(Episode.id == episode_id)
        .with_for_update(of=Episode, key_share=True)
    )
    row = session.execute(query).one_or_none()
    return None if row is None else (row[0], row[1])


def by_hash(session: Session, token_sha256: str) -> tuple[Episode, Run, Task, Attempt | None] | None:
    """The token's episode, with its newest attempt."""
    query = (
        select(Episode, Run, Task, Attempt)
        .join(Run, Run.id == Episode.run_id)
        .join(Task, Task.id == Episode.task_id)
        .outerjoin(Attempt, Attempt.episode_id == Episode.id)
        .where(Episode.token_sha256 == token_sha256)
        .order_by(Attempt.number.desc().nulls_last())
        .limit(1)
    )
    row = session.execute(query).one_or_none()
    return None if row is None else (row[0], row[1], row[2], row[3])
