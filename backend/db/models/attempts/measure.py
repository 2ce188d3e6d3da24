"""Measures of an evaluation."""

from uuid import UUID

from sqlalchemy import PrimaryKeyConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, ref


class Measure(Base):
    """A named number of an evaluation."""

    __tablename__ = "measure"
    # With the value, roll-ups read the index only.
    __table_args__ = (PrimaryKeyConstraint("evaluation_id", "name", postgresql_include=["value"]),)

    evaluation_id: Mapped[UUID] = mapped_column(ref("evaluation"))
    name: Mapped[str]
    value: Mapped[float]
