"""Episodes."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, Index, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, Json, ref
from backend.db.types import one_of
from backend.domain.errors import FailureClass
from backend.domain.model.episode import EndedBy, EpisodeState, Outcome
from backend.domain.scheduling.duration_estimate import UNKNOWN


class Episode(Base):
    """One (task, repeat) of a run: what leaderboards count.

    `retry_baseline` is the number of attempts at the last `run retry`; earlier losses do not count. `token_sha256` is
    the hash of an external program's token. `human_feedback` has a person's answers before the start, copied to each
    attempt. `human_assisted`: a person helped the agent, so the score does not count for it. `requirements_id` is the
    task's; `estimated_seconds` is the estimated time in its slot (`domain.scheduling.duration_estimate`). `reason` and
    `reason_code` are why it was held back or cannot run (`domain.model.reason`).
    """

    __tablename__ = "episode"
    __table_args__ = (
        UniqueConstraint("run_id", "task_id", "repeat_index"),
        one_of("state", EpisodeState),
        one_of("ended_by", EndedBy, optional=True),
        one_of("outcome", Outcome, optional=True),
        one_of("failure_class", FailureClass, optional=True),
        CheckConstraint("outcome IS NULL OR outcome = state", name="outcome_is_state"),
        CheckConstraint(
            "(outcome IS NOT DISTINCT FROM 'scored') = (score IS NOT NULL) AND (score IS NULL) = (solved IS NULL)",
            name="score_when_scored",
        ),
        CheckConstraint("(outcome IS NOT DISTINCT FROM 'lost') = (failure_class IS NOT NULL)", name="class_when_lost"),
        Index(
            "ix_episode_claim",
            "run_id",
            "requirements_id",
            text("priority DESC"),
            "repeat_index",
            text("estimated_seconds DESC"),
            "id",
            postgresql_where=text("state = 'waiting' AND available_at < '9000-01-01 00:00:00+00'"),
        ),
        Index(
            "ix_episode_no_requirements", "id", postgresql_where=text("state = 'waiting' AND requirements_id IS NULL")
        ),
        Index("ix_episode_running", "run_id", postgresql_where=text("state = 'running'")),
        Index("ix_episode_ended_at", "ended_at"),
        Index("ix_episode_flagged", "id", postgresql_where=text("flagged")),
        Index("ix_episode_run_page", "run_id", "id"),
        Index("ix_episode_task", "task_id", "id"),
        Index("uq_episode_token_sha256", "token_sha256", unique=True),
        CheckConstraint("score BETWEEN 0 AND 1", name="score_range"),
    )

    id: Mapped[Id]
    run_id: Mapped[UUID] = mapped_column(ref("run"))
    task_id: Mapped[UUID] = mapped_column(ref("task"))
    repeat_index: Mapped[int] = mapped_column(default=0)
    seed: Mapped[int]
    state: Mapped[str] = mapped_column(default=EpisodeState.WAITING)
    reason: Mapped[str] = mapped_column(default="")
    reason_code: Mapped[str | None]
    priority: Mapped[int] = mapped_column(default=0)
    available_at: Mapped[Created]
    requirements_id: Mapped[UUID | None]
    estimated_seconds: Mapped[float] = mapped_column(default=UNKNOWN, server_default=text("600"))
    ended_by: Mapped[str | None]
    outcome: Mapped[str | None]
    failure_class: Mapped[str | None]
    failure_code: Mapped[str | None]
    failure_message: Mapped[str] = mapped_column(default="")
    score: Mapped[float | None]
    solved: Mapped[bool | None]
    steps: Mapped[int] = mapped_column(default=0)
    token_sha256: Mapped[str | None]
    human_feedback: Mapped[Json | None] = mapped_column(JSONB(none_as_null=True))
    human_assisted: Mapped[bool] = mapped_column(default=False, server_default=text("false"))
    flagged: Mapped[bool] = mapped_column(default=False)
    flag_reason: Mapped[str] = mapped_column(default="")
    attempt_count: Mapped[int] = mapped_column(default=0)
    retry_baseline: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[Created]
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
