"""Benchmarks: named collections of tasks with one scoring protocol."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, ref


class Benchmark(Base):
    """A benchmark; its tasks belong to its task sets.

    Hidden ones are not listed: they hold the task sets of trials and recordings of drafts.
    """

    __tablename__ = "benchmark"
    __table_args__ = (UniqueConstraint("project_id", "name"),)

    id: Mapped[Id]
    project_id: Mapped[UUID] = mapped_column(ref("project"), index=True)
    name: Mapped[str]
    kind: Mapped[str]
    title: Mapped[str] = mapped_column(default="")
    licence: Mapped[str] = mapped_column(default="")
    source: Mapped[str] = mapped_column(default="")
    hidden: Mapped[bool] = mapped_column(default=False, server_default=text("false"))
    created_at: Mapped[Created]
    deleted_at: Mapped[datetime | None]
