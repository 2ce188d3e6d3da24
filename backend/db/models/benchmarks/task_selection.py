"""Named selections of a task set: lists published by a suite."""

from uuid import UUID

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Id, JsonList, ref


class TaskSelection(Base):
    """Some of a task set's tasks under a name (`test_small`); `tasks` are their keys, `domain/name`."""

    __tablename__ = "task_selection"
    __table_args__ = (UniqueConstraint("task_set_id", "name"),)

    id: Mapped[Id]
    task_set_id: Mapped[UUID] = mapped_column(ref("task_set"))
    name: Mapped[str]
    tasks: Mapped[JsonList] = mapped_column(default=list)
