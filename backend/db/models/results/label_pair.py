"""Pairs of labels that a reader of a board asked for."""

from uuid import UUID

from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, ref


class StoredLabelPair(Base):
    """Two labels by which every cube of the benchmark's runs is cut together, in the order of the alphabet."""

    __tablename__ = "label_pair"

    benchmark_id: Mapped[UUID] = mapped_column(ref("benchmark"), primary_key=True)
    first: Mapped[str] = mapped_column(primary_key=True)
    second: Mapped[str] = mapped_column(primary_key=True)
    created_at: Mapped[Created]
