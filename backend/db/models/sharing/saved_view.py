"""Saved views: what a reader chose on a board, under a name."""

from uuid import UUID

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, Json, ref


class SavedView(Base):
    """The query of a board's address. `query` has only keys that the release which wrote it knows."""

    __tablename__ = "saved_view"
    __table_args__ = (UniqueConstraint("benchmark_id", "name"),)

    id: Mapped[Id]
    benchmark_id: Mapped[UUID] = mapped_column(ref("benchmark"))
    name: Mapped[str]
    query: Mapped[Json]
    created_at: Mapped[Created]
