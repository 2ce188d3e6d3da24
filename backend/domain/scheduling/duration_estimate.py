"""Estimated duration of an episode: from measurements, else from its task."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

UNKNOWN = 600.0
"""Seconds where nothing at all is known."""
OVERHEAD = 30.0
"""Seconds of reset, set-up and evaluation, added if only steps are known."""
STEP_SECONDS = 10.0
"""Of one step, before the agent has played: WAA and OSWorld agents need 5 to 20 s (docs/internals/scheduling.md)."""
_HARDNESS = {"easy": 0.5, "medium": 0.75, "hard": 1.0}


@dataclass(frozen=True)
class TaskFacts:
    """Facts about a task before it runs; `steps` = its step budget in this run."""

    id: UUID
    domain: str
    difficulty: str | None
    steps: int


@dataclass(frozen=True)
class DurationHistory:
    """Medians of the seconds that past attempts held their slots.

    Attributes:
        own: by task, of the same agent.
        others: by task, of any agent.
        alike: by (domain, difficulty), of the same agent.
        step: seconds per step of the same agent; None = it has never played.
    """

    own: Mapping[UUID, float] = field(default_factory=dict)
    others: Mapping[UUID, float] = field(default_factory=dict)
    alike: Mapping[tuple[str, str | None], float] = field(default_factory=dict)
    step: float | None = None


def expected_seconds(task: TaskFacts, history: DurationHistory) -> float:
    """Seconds that an episode of the task should take: the nearest of what was measured.

    The median of this task by this agent; else of this task by any agent; else of tasks of its domain and difficulty
    by this agent; else its step budget times the seconds of a step, less if it is labelled as easy.
    """
    measured = (
        history.own.get(task.id),
        history.others.get(task.id),
        history.alike.get((task.domain, task.difficulty)),
    )
    nearest = next((seconds for seconds in measured if seconds is not None), None)
    if nearest is not None:
        return max(1.0, nearest)
    used = task.steps * _HARDNESS.get(task.difficulty or "", _HARDNESS["medium"])
    return OVERHEAD + used * (STEP_SECONDS if history.step is None else max(0.1, history.step))
