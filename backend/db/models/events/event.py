"""Events of runs."""

from uuid import UUID

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, Json, ref


class Event(Base):
    """Something that happened to a run; `seq` counts from 1 without gaps, in commit order."""

    __tablename__ = "event"
    __table_args__ = (UniqueConstraint("run_id", "seq"),)

    id: Mapped[Id]
    run_id: Mapped[UUID] = mapped_column(ref("run"))
    seq: Mapped[int]
    kind: Mapped[str]
    episode_id: Mapped[UUID | None] = mapped_column(ref("episode"))
    attempt_id: Mapped[UUID | None] = mapped_column(ref("attempt"))
    data: Mapped[Json] = mapped_column(default=dict)
    created_at: Mapped[Created]
