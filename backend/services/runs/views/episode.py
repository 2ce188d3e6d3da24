"""View of an episode."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from backend.domain.errors import FailureClass
from backend.domain.model.episode import EndedBy, EpisodeState, Outcome
from backend.domain.model.reason import ReasonCode
from backend.domain.model.run import Budget
from backend.domain.model.task import Difficulty
from backend.services.read_model import ReadModel, short
from backend.services.runs.episodes import EpisodeSummary, WaitView
from backend.telemetry.tracing import sampled_trace_id

DEFAULT_STEPS = 30
"""Step budget if neither run nor task has one (backend.domain.model.run)."""


class EpisodeView(ReadModel):
    """One (task, repeat) of a run: what the leaderboard counts."""

    id: UUID
    run_id: UUID
    task_id: UUID
    task: str = Field(description="domain/name", examples=["files/rename-report"])
    instruction: str = Field(default="", description="Its first words.", examples=["Rename the report to final.odt."])
    domain: str = Field(examples=["files"])
    difficulty: Difficulty | None = None
    level: str | None = None
    repeat: int = Field(examples=[1])
    seed: int
    state: EpisodeState
    reason: str = Field(default="", description="Why it was held back or is not runnable.")
    reason_code: ReasonCode | None = Field(default=None, description="The same as a stable code.")
    waiting: WaitView | None = Field(default=None, description="Why it waits; null where it does not.")
    outcome: Outcome | None = None
    human_assisted: bool = Field(default=False, description="A person helped: scored, but not counted as the agent's.")
    ended_by: EndedBy | None = None
    failure_class: FailureClass | None = None
    failure_code: str | None = Field(
        default=None, description="Stable code of the failure; see docs/errors.md.", examples=["desktop_gone"]
    )
    failure_message: str = ""
    score: float | None = Field(default=None, ge=0, le=1)
    solved: bool | None = None
    steps: int = Field(
        default=0, description="Steps so far of the attempt under way; after it, those of the one that counts."
    )
    max_steps: int = Field(description="The step budget that holds for its task.", examples=[15])
    attempts: int = Field(default=0, description="How many attempts were made.", examples=[1])
    seconds: dict[str, float] = Field(
        default={},
        description="Seconds by phase of the newest attempt.",
        examples=[{"reset": 0.8, "setup": 1.2, "agent": 6.0, "evaluation": 0.3}],
    )
    flagged: bool = False
    flag_reason: str = ""
    trace_id: str | None = Field(default=None, description="Trace of the newest attempt, if it was traced.")
    created_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None

    @property
    def duration(self) -> float | None:
        """Seconds from its first attempt's start to its end; None before the end."""
        if self.started_at is None or self.ended_at is None:
            return None
        return (self.ended_at - self.started_at).total_seconds()


def max_steps_of(config: Mapping[str, Any], spec: Mapping[str, Any]) -> int:
    """Effective step budget of a task in a run."""
    budget = Budget.model_validate(config.get("budget") or {})
    level = (spec.get("labels") or {}).get("level")
    return budget.steps_of(level, spec.get("max_steps")) or DEFAULT_STEPS


def episode_view(row: EpisodeSummary, config: Mapping[str, Any], waiting: WaitView | None = None) -> EpisodeView:
    """An episode with its task and newest attempt; `config` is its run's."""
    episode, task = row.episode, row.task
    return EpisodeView(
        id=episode.id,
        run_id=episode.run_id,
        task_id=task.id,
        task=task.key,
        instruction=short(task.instruction),
        domain=task.domain,
        difficulty=task.difficulty,
        level=task.level,
        repeat=episode.repeat_index,
        seed=episode.seed,
        state=episode.state,
        reason=episode.reason,
        reason_code=episode.reason_code,
        waiting=waiting,
        outcome=episode.outcome,
        human_assisted=episode.human_assisted,
        ended_by=episode.ended_by,
        failure_class=episode.failure_class,
        failure_code=episode.failure_code,
        failure_message=episode.failure_message,
        score=episode.score,
        solved=episode.solved,
        steps=row.steps,
        max_steps=max_steps_of(config, task.spec),
        attempts=episode.attempt_count,
        seconds={name: float(value) for name, value in row.seconds.items()},
        flagged=episode.flagged,
        flag_reason=episode.flag_reason,
        trace_id=sampled_trace_id(row.trace_parent),
        created_at=episode.created_at,
        started_at=episode.started_at,
        ended_at=episode.ended_at,
    )


def without_result(episode: EpisodeView) -> EpisodeView:
    """For a person who has not rated the task: without whether it was solved."""
    return episode.model_copy(update={"score": None, "solved": None})
