"""Record of slots and episodes, as the simulated workers saw them."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from uuid import UUID


@dataclass(frozen=True)
class SlotUse:
    """An episode had a slot; times in seconds of the timeline.

    Attributes:
        free_at: since when the slot had been free.
        leased_at: when the claim was committed.
        ended_at: when the end of the attempt was committed; None = the simulation ended first.
        is_lost: the lease was revoked before the worker noticed.
    """

    run_id: UUID
    episode_id: UUID
    slot: tuple[str, int]
    free_at: float
    leased_at: float
    ended_at: float | None = None
    is_lost: bool = False


@dataclass
class Journal:
    """All holds. Safe from many threads."""

    ended: list[SlotUse] = field(default_factory=list)
    open: dict[UUID, SlotUse] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def leased(self, attempt_id: UUID, hold: SlotUse) -> None:
        """A slot has an episode."""
        with self._lock:
            self.open[attempt_id] = hold

    def finished(self, attempt_id: UUID, at: float, *, is_lost: bool = False) -> None:
        """The attempt has ended; its slot is free."""
        with self._lock:
            self.ended.append(replace(self.open.pop(attempt_id), ended_at=at, is_lost=is_lost))

    def all(self) -> list[SlotUse]:
        """Every hold, in the order of leases."""
        with self._lock:
            return sorted([*self.ended, *self.open.values()], key=lambda hold: hold.leased_at)


def slot_seconds(holds: list[SlotUse], since: float, until: float) -> dict[UUID, float]:
    """Seconds of slots that each run had between two moments."""
    seconds: dict[UUID, float] = defaultdict(float)
    for hold in holds:
        end = until if hold.ended_at is None else min(hold.ended_at, until)
        seconds[hold.run_id] += max(0.0, end - max(hold.leased_at, since))
    return dict(seconds)


def share_error(seconds: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """The largest difference between the share of slot-seconds that one had and the share that its weight entitles to.

    Args:
        seconds: slot-seconds of each, while all of them had episodes waiting.
        weights: of each.
    """
    total, weight = sum(seconds.values()), sum(weights.values())
    return max(abs(seconds.get(name, 0.0) / total - weights[name] / weight) for name in weights)
