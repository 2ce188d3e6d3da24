"""View of a run."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db import models
from backend.db.models.enums import Origin
from backend.db.repositories import common_queries as repository
from backend.db.repositories.common_queries import AnyRow
from backend.domain.model.episode import RunState
from backend.domain.model.reason import ReasonCode
from backend.domain.scheduling.limits import Concurrency
from backend.services.benchmarks.views.benchmark import TaskSetRef
from backend.services.configurations.configuration_ref import ConfigurationRef, configuration_ref
from backend.services.read_model import ReadModel
from backend.services.runs.summary import EpisodeCounts, RunSummary
from backend.services.runs.views.episode import EpisodeView
from backend.telemetry.tracing import sampled_trace_id


class ConcurrencyView(ReadModel):
    """How many episodes of a run can run in parallel now, and what limits it."""

    limit: int = Field(description="Episodes that can run in parallel now.", examples=[3])
    slots: int = Field(description="Slots of its provider that may be used now.", examples=[8])
    limiting_factor: str = Field(examples=["model rate limit"])
    limiting_factor_code: ReasonCode = Field(examples=[ReasonCode.MODEL_RATE_LIMIT])
    text: str = Field(examples=["3 of 8 slots: model rate limit"])

    @classmethod
    def from_concurrency(cls, concurrency: Concurrency | None) -> "ConcurrencyView | None":
        """None if the run has ended."""
        if concurrency is None:
            return None
        factor = concurrency.limiting_factor
        return cls(
            limit=concurrency.limit,
            slots=concurrency.slots,
            limiting_factor=factor.text,
            limiting_factor_code=factor.code,
            text=concurrency.text,
        )


class RunView(ReadModel):
    """One submitted experiment. `episodes` only with `?include=episodes`."""

    id: UUID
    name: str
    status: RunState
    benchmark: str = Field(examples=["starter"])
    task_set: TaskSetRef
    agent: str = Field(examples=["oracle"])
    configuration: ConfigurationRef = Field(description="Who acts.")
    params: dict[str, Any]
    provider: str = Field(examples=["local"])
    config: dict[str, Any] = Field(description="The whole frozen configuration.")
    pins: dict[str, Any] = Field(
        default={},
        description="Other properties that define the agent: code, hashes of prompts, model, price, spaces, budgets.",
    )
    purpose: str = Field(description="measure, validate or demo", examples=["measure"])
    origin: Origin = Field(
        default=Origin.MEASURED, description="`outside`: imported results of another tool, not measured here."
    )
    accepts_episodes: bool = False
    priority: int = Field(default=0, description="-10 to 10; higher ones come first.")
    concurrency: int | None = Field(default=None, description="Its simultaneous episodes at most; null = no limit.")
    run_usd: float | None = Field(default=None, description="US dollars that it may spend; null = no limit.")
    run_tokens: int | None = Field(default=None, description="Tokens that it may use; null = no limit.")
    run_desktop_hours: float | None = Field(default=None, description="Hours of desktops; null = no limit.")
    budget_reached: str = Field(default="", description="Reached budget; no further episode starts.")
    effective_concurrency: ConcurrencyView | None = Field(
        default=None, description="Only in the answer about a single run, until it ends."
    )
    actor: str = ""
    counts: EpisodeCounts
    summary: RunSummary
    created_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    episodes: list[EpisodeView] | None = None
    trace_id: str | None = Field(default=None, description="Trace of its submission, where that was traced.")
    notice: str = Field(default="", description="What its submitter should know, such as that no worker is online yet.")

    @property
    def title(self) -> str:
        """Its name, else its configuration and benchmark."""
        return self.name or f"{self.configuration.name} on {self.benchmark}"

    @property
    def repeats(self) -> int:
        """Episodes per task."""
        return int(self.config.get("repeats", 1))

    @property
    def duration(self) -> float | None:
        """Duration in seconds, so far if it is active."""
        if self.started_at is None:
            return None
        return ((self.ended_at or datetime.now(UTC)) - self.started_at).total_seconds()


def run_views(session: Session, runs: Sequence[models.Run], summaries: Mapping[UUID, RunSummary]) -> list[RunView]:
    """Runs with their names and summaries."""
    rows = {row.Run.id: row for row in repository.named_runs(session, [run.id for run in runs])}
    return [run_view(rows[run.id], summaries[run.id]) for run in runs]


def run_view(row: AnyRow, summary: RunSummary) -> RunView:
    """A row of `repositories.common_queries.run_columns`."""
    run: models.Run = row.Run
    return RunView(
        id=run.id,
        name=run.name,
        status=run.state,
        benchmark=row.benchmark,
        task_set=TaskSetRef(id=run.task_set_id, version=row.version, content_hash=row.content_hash),
        agent=row.AgentConfiguration.name,
        configuration=configuration_ref(row.AgentConfiguration),
        params=row.AgentConfiguration.params,
        provider=run.provider,
        config=run.config,
        pins=run.pins,
        purpose=run.purpose,
        origin=run.origin,
        accepts_episodes=run.accepts_episodes,
        priority=run.priority,
        concurrency=run.concurrency,
        run_usd=run.run_usd,
        run_tokens=run.run_tokens,
        run_desktop_hours=run.run_desktop_hours,
        budget_reached=run.budget_reached,
        actor=row.actor,
        counts=summary.counts,
        summary=summary,
        created_at=run.created_at,
        started_at=run.started_at,
        ended_at=run.ended_at,
        trace_id=sampled_trace_id(run.trace_parent),
    )


class ChangeResult(ReadModel):
    """Number of episodes affected by a command."""

    run: UUID
    status: RunState
    episodes: int = Field(description="Episodes that changed.", examples=[3])
