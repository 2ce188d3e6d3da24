"""Task sets: immutable versions of a benchmark's tasks."""

from uuid import UUID

from sqlalchemy import UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, Json, JsonList, ref


class TaskSet(Base):
    """One content-hashed version of a benchmark's tasks; immutable.

    `protocols` are the scoring protocols of its tasks, sorted and without repetition; "" = tasks without one.
    """

    __tablename__ = "task_set"
    __table_args__ = (UniqueConstraint("benchmark_id", "content_hash"), UniqueConstraint("benchmark_id", "version"))

    id: Mapped[Id]
    benchmark_id: Mapped[UUID] = mapped_column(ref("benchmark"))
    content_hash: Mapped[str]
    version: Mapped[int]
    kind: Mapped[str]
    warnings: Mapped[JsonList] = mapped_column(default=list)
    counts: Mapped[Json] = mapped_column(default=dict)
    protocols: Mapped[JsonList] = mapped_column(default=list, server_default=text("'[]'"))
    created_at: Mapped[Created]
