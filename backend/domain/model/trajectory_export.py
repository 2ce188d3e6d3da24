"""A recorded trajectory for export: the task, the agent's observations, texts and actions, and the result."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from backend.domain.model.score import PartResult
from backend.domain.model.task import Task
from backend.domain.model.trajectory import Action, Mark

SUFFIXES = {"image/jpeg": "jpg", "image/png": "png", "image/webp": "webp"}


class AttemptResult(StrEnum):
    """Result of an attempt. `partial`: not solved, but with a score above 0 or a reached part."""

    SOLVED = "solved"
    PARTIAL = "partial"
    UNSOLVED = "unsolved"


class AgentKind(StrEnum):
    """The actor of a trajectory."""

    HUMAN = "human"
    ORACLE = "oracle"
    MODEL = "model"
    HUMAN_ASSISTED = "human_assisted"
    """An agent whom a person helped."""
    OTHER = "other"
    """Rules, replays, and external programs of unknown kind."""


@dataclass(frozen=True)
class PictureRef:
    """A picture by the hash of its bytes."""

    sha256: str
    media_type: str

    @property
    def path(self) -> str:
        """Its path in an export."""
        return f"images/{self.sha256}.{SUFFIXES.get(self.media_type, 'bin')}"


@dataclass(frozen=True)
class RecordedStep:
    """One step.

    Attributes:
        index: from 0.
        final: the end state, without text or action.
        frame: the screen before the actions; coordinates of actions are its pixels.
        width, height: of the screen in pixels; 0 = not known.
        agent_view: the picture for the agent, if it differs.
        marks: numbered elements of the picture.
        tree: returns the accessibility tree as XML, if stored.
        explanation: the agent's explanation.
        reply: a model's verbatim reply.
        invalid: why the reply could not be parsed.
        by: `agent` or `person`.
        model_calls: of an agent that asks several models, as a step's `extras` has them.
        reached: names of the task's parts that were first reached by this step.
        at: when it was recorded.
    """

    index: int
    actions: tuple[Action, ...] = ()
    final: bool = False
    frame: PictureRef | None = None
    width: int = 0
    height: int = 0
    agent_view: PictureRef | None = None
    marks: tuple[Mark, ...] = ()
    tree: Callable[[], str] | None = field(default=None, compare=False, repr=False)
    explanation: str = ""
    reply: str = ""
    invalid: str = ""
    by: str = "agent"
    usage: Mapping[str, Any] = field(default_factory=dict)
    timing: Mapping[str, Any] = field(default_factory=dict)
    model_calls: tuple[Mapping[str, Any], ...] = ()
    reached: tuple[str, ...] = ()
    at: datetime | None = None


@dataclass(frozen=True)
class ExportedAttempt:
    """One scored attempt at one episode.

    Attributes:
        id: of the attempt; unique.
        task: the agent's task, so possibly a variant.
        benchmark: name, version and content hash of the task set.
        agent: its name.
        score: in [0, 1].
        measures: further numbers of the evaluation.
        parts: results of the task's parts.
        source: provenance: run, episode, attempt, worker, versions.
    """

    id: str
    task: Task
    benchmark: Mapping[str, Any]
    agent: str
    kind: AgentKind
    result: AttemptResult
    score: float
    ended_by: str
    steps: tuple[RecordedStep, ...]
    measures: Mapping[str, float] = field(default_factory=dict)
    parts: tuple[PartResult, ...] = ()
    source: Mapping[str, Any] = field(default_factory=dict)

    @property
    def acted(self) -> tuple[RecordedStep, ...]:
        """The steps with a decision."""
        return tuple(step for step in self.steps if not step.final)


def action_json(action: Action) -> dict[str, Any]:
    """An action without default values; the type is always included."""
    return {"type": action.type.value, **action.model_dump(mode="json", exclude_defaults=True, exclude={"type"})}
