"""Snapshot of the queue for the scheduler: who wants slots, who has them, and the limits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from backend.domain.scheduling.projects import ProjectRules
from backend.domain.scheduling.reservations import Reserve, Urgency


@dataclass(frozen=True)
class RunLoad:
    """A run that has slots or wants some.

    Attributes:
        urgency: who waits for it.
        idle_seconds: since one of its episodes last began, or first could.
        concurrency: limit of its parallel episodes; None = no limit.
        in_use: its episodes under way.
        used: slot-seconds lately.
        model_waits: how many of its episodes wait at their model's limits.
        budget_reached: sentence about the budget of the run or its project that is spent; empty if none is.
        over_disk_quota: its project stores more than it may.
    """

    id: UUID
    project_id: UUID
    provider: str
    urgency: Urgency = Urgency.NOBODY
    priority: int = 0
    idle_seconds: float = 0.0
    concurrency: int | None = None
    in_use: int = 0
    used: float = 0.0
    model_waits: int = 0
    budget_reached: str = ""
    over_disk_quota: bool = False


@dataclass(frozen=True)
class ProjectLoad:
    """A project with its rules, the desktops it has by provider, and its slot-seconds lately of this provider."""

    rules: ProjectRules = field(default_factory=ProjectRules)
    in_use: Mapping[str, int] = field(default_factory=dict)
    used: float = 0.0


@dataclass(frozen=True)
class QueueSnapshot:
    """One provider's queue at one moment.

    Attributes:
        provider: provider of the slots.
        runs: that have an episode which might begin now; in the order of their submission.
        projects: of these runs.
        free: free slots; None if nothing is reserved, so that it does not matter.
        reserve: reserved slots.
    """

    provider: str
    runs: tuple[RunLoad, ...]
    projects: Mapping[UUID, ProjectLoad]
    free: int | None = None
    reserve: Reserve = field(default_factory=lambda: Reserve(0, {}, {}))
