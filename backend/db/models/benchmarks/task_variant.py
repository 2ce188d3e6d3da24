"""Variants: the same task under other conditions."""

from uuid import UUID

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Id, Json, ref


class TaskVariant(Base):
    """A task with one axis changed (context, language, detail, order, window); compared paired with its task."""

    __tablename__ = "task_variant"
    __table_args__ = (UniqueConstraint("task_id", "axis", "value"),)

    id: Mapped[Id]
    task_id: Mapped[UUID] = mapped_column(ref("task"))
    axis: Mapped[str]
    value: Mapped[str]
    spec: Mapped[Json]
