"""A run with its episodes for export, also of those that have no score."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from backend.domain.model.task import Task
from backend.domain.model.trajectory_export import RecordedStep


@dataclass(frozen=True)
class ExportedRun:
    """A run, without its episodes.

    Attributes:
        title: its name, or its configuration on its benchmark.
        benchmark: name, version and content hash of the task set.
        configuration: name of the configuration.
        model: name of the model, or of the agent if it has none.
        config: everything that determined results, without secrets.
        passes: highest repeat of any episode, at least 1.
        origin: `measured` or `outside`.
        code: version of Deskarena.
    """

    id: str
    title: str
    benchmark: Mapping[str, Any]
    agent: str
    configuration: str
    model: str
    observation: str
    action_space: str
    config: Mapping[str, Any]
    passes: int
    origin: str
    state: str
    code: Mapping[str, Any]
    created_at: datetime
    ended_at: datetime | None = None


@dataclass(frozen=True)
class NoResult:
    """Why an episode has no result that counts. It is not a score of 0."""

    code: str
    message: str

    @property
    def text(self) -> str:
        return f"{self.code}: {self.message}" if self.message else self.code


@dataclass(frozen=True)
class ExportedEpisode:
    """An episode with the steps of the attempt that decided it.

    Attributes:
        repeat: from 1.
        score: in [0, 1]; None exactly if `no_result` says why.
        steps: empty if nothing was recorded. The last one may be the end state.
        seconds: of the attempt, by phase.
    """

    id: str
    task: Task
    repeat: int
    seed: int
    state: str
    score: float | None
    no_result: NoResult | None = None
    ended_by: str = ""
    measures: Mapping[str, float] = field(default_factory=dict)
    steps: tuple[RecordedStep, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    started_at: datetime | None = None
    ended_at: datetime | None = None

    @property
    def acted(self) -> tuple[RecordedStep, ...]:
        """The steps with a decision."""
        return tuple(step for step in self.steps if not step.final)
