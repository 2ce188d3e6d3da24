"""Requests to score stored evidence again."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index, text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models import enums
from backend.db.models.base import Base, Created, Id, Json, ref
from backend.db.types import one_of


class Reevaluation(Base):
    """One attempt that is to be scored again, or was: a scored one, or one whose evaluation came to no verdict.

    `task_id` is the task that judges, perhaps of a newer task set; `previous_evaluation_id` the evaluation that was
    current when it was asked for, or the one that came to no verdict, and `new_evaluation_id` the new one. Such a
    verdict is looked for up to `tries` times, from `available_at`; `evidence_missing_since`: when its files could
    first not be had. `rerun_if_undecided`: if all fail the whole episode is repeated. `judge` is a
    `backend.domain.model.judge_config.JudgeConfig` that is to look at the kept pictures; empty = what the evidence
    says.
    """

    __tablename__ = "reevaluation"
    __table_args__ = (
        one_of("state", enums.ReevaluationState),
        Index(
            "uq_reevaluation_waiting",
            "attempt_id",
            "task_id",
            "make_current",
            "judge",
            unique=True,
            postgresql_where=text("state = 'waiting'"),
        ),
    )

    id: Mapped[Id]
    episode_id: Mapped[UUID] = mapped_column(ref("episode"), index=True)
    attempt_id: Mapped[UUID] = mapped_column(ref("attempt"))
    task_id: Mapped[UUID] = mapped_column(ref("task"))
    previous_evaluation_id: Mapped[UUID] = mapped_column(ref("evaluation"))
    new_evaluation_id: Mapped[UUID | None] = mapped_column(ref("evaluation"))
    actor_id: Mapped[UUID | None] = mapped_column(ref("actor"))
    make_current: Mapped[bool] = mapped_column(default=True)
    judge: Mapped[Json] = mapped_column(default=dict, server_default=text("'{}'"))
    state: Mapped[str] = mapped_column(default="waiting")
    tries: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    rerun_if_undecided: Mapped[bool] = mapped_column(default=False, server_default=text("false"))
    available_at: Mapped[Created]
    evidence_missing_since: Mapped[datetime | None]
    message: Mapped[str] = mapped_column(default="")
    created_at: Mapped[Created]
    ended_at: Mapped[datetime | None]
