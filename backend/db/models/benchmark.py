"""Benchmarks: named collections of tasks with one scoring protocol."""

from uuid import UUID

from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, ref


class Benchmark(Base):
    """A benchmark; its tasks hang on its task sets."""

    __tablename__ = "benchmark"

    id: Mapped[Id]
    project_id: Mapped[UUID] = mapped_column(ref("project"), index=True)
    name: Mapped[str] = mapped_column(unique=True)
    kind: Mapped[str]
    title: Mapped[str] = mapped_column(default="")
    licence: Mapped[str] = mapped_column(default="")
    source: Mapped[str] = mapped_column(default="")
    created_at: Mapped[Created]
