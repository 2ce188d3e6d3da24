"""Runs."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, Index, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models import enums
from backend.db.models.base import Base, Created, Id, Json, ref
from backend.db.types import one_of
from backend.domain.model.episode import RunState
from backend.domain.scheduling.priorities import HIGHEST, LOWEST, NORMAL


class Run(Base):
    """One submitted experiment. Its row lock orders all changes of its episodes and attempts.

    `next_event_seq` is written by `repositories.events.events` only. `rollup_stale`: an episode has changed since the
    last computation of the run's cube began. `rollup_started_at` is set during a computation, `rollup_as_of` is the
    time of the stored cube's data, `rollup_seconds` the duration of its computation. `condition_hash` is `config_hash`
    without the selection, repeats and seed: runs with the same hash measure the same thing, perhaps on different tasks.
    `pins` has everything else that defines the agent: versions, hashes of prompts, prices. A run of a study is one of
    its cells: `cell` has its levels by factor. A run of the origin `outside` was imported from another tool's results:
    its episodes have no attempts.

    For the scheduler (docs/internals/scheduling.md): `concurrency` limits its parallel episodes (None: no limit);
    `in_use` = running episodes, updated by `services.lifecycle.state_transitions` and checked by maintenance;
    `usage_seconds` = slot-seconds as of `usage_updated_at`, with decay; `last_scheduled_at` = when one of its episodes
    last started, or first could; `estimates_updated_at` = when the estimated seconds of its waiting episodes were last
    updated. `run_usd`, `run_tokens` and `run_desktop_hours` are its budget (None: no limit); `budget_reached` says
    which of them is reached.

    `trace_parent` is the W3C trace context of its submission, if that was traced; with `trace_per_episode` its episodes
    have traces of their own, which link to it.
    """

    __tablename__ = "run"
    __table_args__ = (
        UniqueConstraint("project_id", "idempotency_key"),
        one_of("state", RunState),
        one_of("purpose", enums.Purpose),
        one_of("origin", enums.Origin),
        Index("ix_run_active", "id", postgresql_where=text("state IN ('queued', 'running')")),
        Index("ix_run_stale", "id", postgresql_where=text("rollup_stale")),
        Index("ix_run_rollup_started", "id", postgresql_where=text("rollup_started_at IS NOT NULL")),
        Index("ix_run_task_set", "task_set_id", "id"),
        Index("ix_run_study", "study_id"),
        Index("ix_run_configuration", "agent_configuration_id", "id"),
        Index("ix_run_scheduled", "id", postgresql_where=text("state IN ('queued', 'running', 'paused')")),
        Index("ix_run_cancelled", "ended_at", postgresql_where=text("state = 'cancelled'")),
        CheckConstraint(f"priority BETWEEN {LOWEST} AND {HIGHEST}", name="priority"),
        CheckConstraint("concurrency >= 1", name="concurrency"),
    )

    id: Mapped[Id]
    project_id: Mapped[UUID] = mapped_column(ref("project"))
    actor_id: Mapped[UUID] = mapped_column(ref("actor"))
    task_set_id: Mapped[UUID] = mapped_column(ref("task_set"))
    agent_configuration_id: Mapped[UUID] = mapped_column(ref("agent_configuration"))
    provider: Mapped[str]
    config: Mapped[Json]
    config_hash: Mapped[str]
    condition_hash: Mapped[str]
    pins: Mapped[Json] = mapped_column(default=dict, server_default=text("'{}'"))
    study_id: Mapped[UUID | None] = mapped_column(ref("study"))
    cell: Mapped[Json | None] = mapped_column(JSONB(none_as_null=True))
    name: Mapped[str] = mapped_column(default="")
    state: Mapped[str] = mapped_column(default=RunState.QUEUED)
    accepts_episodes: Mapped[bool] = mapped_column(default=False)
    purpose: Mapped[str] = mapped_column(default=enums.Purpose.MEASURE)
    origin: Mapped[str] = mapped_column(default=enums.Origin.MEASURED, server_default=enums.Origin.MEASURED.value)
    priority: Mapped[int] = mapped_column(default=NORMAL, server_default=text("0"))
    concurrency: Mapped[int | None]
    run_usd: Mapped[float | None]
    run_tokens: Mapped[int | None]
    run_desktop_hours: Mapped[float | None]
    budget_reached: Mapped[str] = mapped_column(default="", server_default=text("''"))
    in_use: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    usage_seconds: Mapped[float] = mapped_column(default=0.0, server_default=text("0"))
    usage_updated_at: Mapped[Created]
    last_scheduled_at: Mapped[Created]
    estimates_updated_at: Mapped[Created]
    trace_parent: Mapped[str | None]
    trace_per_episode: Mapped[bool] = mapped_column(default=False, server_default=text("false"))
    next_event_seq: Mapped[int] = mapped_column(default=1)
    rollup_stale: Mapped[bool] = mapped_column(default=True)
    rollup_started_at: Mapped[datetime | None]
    rollup_as_of: Mapped[datetime | None]
    rollup_seconds: Mapped[float | None]
    idempotency_key: Mapped[str | None]
    request_hash: Mapped[str]
    created_at: Mapped[Created]
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    deleted_at: Mapped[datetime | None]
