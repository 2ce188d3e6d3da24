"""Attempts."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, Index, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models import enums
from backend.db.models.base import Base, Created, Id, Json, ref
from backend.db.types import one_of
from backend.domain.errors import FailureClass
from backend.domain.model.episode import AttemptState, EndedBy


class Attempt(Base):
    """One try at an episode on one desktop. `live` until it ends; episodes and leases have at most one live attempt.

    `human_feedback` has a person's answers: `feasible` before the task, `rating` (1 to 3) after it, and the
    `second_try` after a failure: its `episode` and, once ended, `steps`, `seconds`, `solved`. `usage`: sums over the
    steps (`input_tokens`, `output_tokens`, `calls`, `usd`, `priced`), once the agent has stopped.
    """

    __tablename__ = "attempt"
    __table_args__ = (
        UniqueConstraint("episode_id", "number"),
        one_of("state", AttemptState),
        one_of("controller", enums.AttemptController),
        one_of("ended_by", EndedBy, optional=True),
        one_of("failure_class", FailureClass, optional=True),
        CheckConstraint("live = (state IN ('preparing', 'running', 'evaluating'))", name="live_until_ended"),
        CheckConstraint("(state = 'lost') = (failure_class IS NOT NULL)", name="class_when_lost"),
        Index("ix_attempt_lease", "lease_id"),
        Index("ix_attempt_lost", "ended_at", postgresql_where=text("state = 'lost'")),
        Index("uq_attempt_live_episode", "episode_id", unique=True, postgresql_where=text("live")),
        Index("uq_attempt_live_lease", "lease_id", unique=True, postgresql_where=text("live")),
    )

    id: Mapped[Id]
    episode_id: Mapped[UUID] = mapped_column(ref("episode"))
    number: Mapped[int]
    state: Mapped[str] = mapped_column(default=AttemptState.PREPARING)
    live: Mapped[bool] = mapped_column(default=True)
    controller: Mapped[str] = mapped_column(default=enums.AttemptController.AGENT)
    worker_id: Mapped[UUID] = mapped_column(ref("worker"))
    slot_id: Mapped[UUID] = mapped_column(ref("slot"))
    lease_id: Mapped[UUID] = mapped_column(ref("lease"))
    fencing_token: Mapped[int]
    ended_by: Mapped[str | None]
    failure_class: Mapped[str | None]
    failure_code: Mapped[str | None]
    failure_message: Mapped[str] = mapped_column(default="")
    after_action: Mapped[bool] = mapped_column(default=False)
    seconds: Mapped[Json] = mapped_column(default=dict)
    desktop: Mapped[Json] = mapped_column(default=dict)
    usage: Mapped[Json | None] = mapped_column(JSONB(none_as_null=True))
    human_feedback: Mapped[Json | None] = mapped_column(JSONB(none_as_null=True))
    current_step: Mapped[int] = mapped_column(default=0)
    trace_parent: Mapped[str | None]
    started_at: Mapped[Created]
    first_observation_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
