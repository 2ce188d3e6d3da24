"""Requests to re-evaluate stored evidence."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index, text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models import enums
from backend.db.models.base import Base, Created, Id, Json, ref
from backend.db.types import one_of


class Reevaluation(Base):
    """Re-evaluation of one attempt, requested or done: of a scored attempt, or of one without a verdict.

    `task_id` is the task to evaluate by, perhaps of a newer task set. `previous_evaluation_id` is the evaluation that
    was current at the request, or the one without a verdict; `new_evaluation_id` is the new one. There are up to
    `tries` tries, from `available_at`. `evidence_missing_since`: since when files are unavailable.
    `rerun_if_undecided`: repeat the whole episode if all tries fail. `judge` is a
    `backend.domain.model.judge_config.JudgeConfig` for the stored pictures; empty = use the stored judgement.
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
