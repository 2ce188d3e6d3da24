"""Roll-ups of measures: their means by dimension."""

from uuid import UUID

from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, ref


class MeasureRollup(Base):
    """One measure in one cell of a run's cube (`Rollup`); recomputed with it, never incremented.

    `n` values with the sum `total` in `tasks` tasks; for a pooled measure `n` counts the parts of those tasks. The
    interval belongs to the mean `total / n`. `undefined_tasks` have a scored episode without a value, although they
    could have one. Over all tasks `total` of OmniBench's CR is n times the mean of its sets' means.
    """

    __tablename__ = "measure_rollup"

    run_id: Mapped[UUID] = mapped_column(ref("run"), primary_key=True)
    dimension: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    measure: Mapped[str] = mapped_column(primary_key=True)
    tasks: Mapped[int]
    undefined_tasks: Mapped[int]
    n: Mapped[int]
    total: Mapped[float]
    low: Mapped[float]
    high: Mapped[float]
