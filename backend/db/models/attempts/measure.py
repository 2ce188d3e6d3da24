"""Measures of an evaluation."""

from uuid import UUID

from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, ref


class Measure(Base):
    """A named number of an evaluation."""

    __tablename__ = "measure"

    evaluation_id: Mapped[UUID] = mapped_column(ref("evaluation"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[float]
