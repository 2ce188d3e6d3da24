"""Videos of attempts."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from backend.db.models import Artifact, AttemptVideo


def find(session: Session, attempt_id: UUID) -> tuple[AttemptVideo, Artifact] | None:
    """The attempt's video with its bytes' metadata."""
    query = select(AttemptVideo, Artifact).join(Artifact, Artifact.sha256 == AttemptVideo.sha256)
    row = session.execute(query.where(AttemptVideo.attempt_id == attempt_id)).one_or_none()
    return None if row is None else (row[0], row[1])


def add(session: Session, attempt_id: UUID, sha256: str) -> None:
    """Stores that this is the attempt's video, unless it has one."""
    session.execute(insert(AttemptVideo).values(attempt_id=attempt_id, sha256=sha256).on_conflict_do_nothing())
