"""Roll-ups: the counts of a run by dimension."""

from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Json, ref


class Rollup(Base):
    """One cell of a run's cube. The whole cube is recomputed on changes, never incremented.

    `dimension` is a label of tasks, a pair of them (`domain.model.label_pair`) or one of `enums.Dimension`; `key` is
    its value, empty for `all`; `domain_difficulty` joins both by a slash. The intervals are those of
    `backend.domain.statistics`, None where nothing is scored. `human_assisted` episodes are scored, but not counted: a
    person helped. `handed_in` ones are judged by people. `quarantined` ones have a result that does not count, because
    their task is in quarantine.
    """

    __tablename__ = "rollup"

    run_id: Mapped[UUID] = mapped_column(ref("run"), primary_key=True)
    dimension: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    tasks: Mapped[int]
    scored_tasks: Mapped[int]
    episodes: Mapped[int]
    scored: Mapped[int]
    solved: Mapped[int]
    score_sum: Mapped[float]
    score_sq_sum: Mapped[float]
    lost: Mapped[Json] = mapped_column(default=dict)
    human_assisted: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    handed_in: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    quarantined: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    cancelled: Mapped[int]
    not_runnable: Mapped[int]
    waiting: Mapped[int]
    running: Mapped[int]
    steps_sum: Mapped[int]
    success_method: Mapped[str] = mapped_column(default="")
    success_low: Mapped[float | None]
    success_high: Mapped[float | None]
    mean_low: Mapped[float | None]
    mean_high: Mapped[float | None]
    computed_at: Mapped[Created]
