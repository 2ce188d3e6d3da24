"""Desktops that would be used with enough slots: waiting work within every limit except slots."""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Row
from sqlalchemy.orm import Session

from backend.db.repositories.scheduling import autoscaling_signals as repository
from backend.db.repositories.scheduling import scheduler
from backend.domain.scheduling.demand import beginning
from backend.domain.scheduling.requirements import Requirements
from backend.services.capacity import licences
from backend.services.scheduling.episode_scheduler import needs_of
from backend.services.scheduling.scheduler_snapshot import now_of

MOST = 1_000_000


@dataclass(frozen=True)
class EpisodeDemand:
    """Number of a run's episodes with the same requirements that would start; `image`: requested image, None = none."""

    provider: str
    run_id: UUID
    need: Requirements
    image: str | None
    number: int


Able = Callable[[Row[Any], Requirements], bool]
Leaves = Callable[[Requirements], Collection[UUID]]


def episode_demand(
    session: Session,
    providers: Sequence[str] = (),
    *,
    able: Able = lambda *_: True,
    leaves: Leaves = lambda _: (),
    most: int = MOST,
) -> list[EpisodeDemand]:
    """Episodes that would start at once, run by run in order of submission. Locks nothing.

    Two providers may get the same quota or seat here, as it is unknown which of them will use it.

    Args:
        session: the transaction.
        providers: which; none = all.
        able: whether episodes with these requirements count.
        leaves: tasks with these requirements that do not count.
        most: maximum episodes per run and requirements.
    """
    rows = scheduler.queue(session)
    ready = [row for row in rows if row.ready and (not providers or row.provider in providers)]
    pairs = [(row, need) for row in ready for need in needs_of(session, row.task_set_id) if able(row, need)]
    if not pairs:
        return []
    unusable = [(row.id, task) for row, need in pairs for task in leaves(need)]
    numbers = repository.ready(session, [(row.id, need.id) for row, need in pairs], most, unusable)
    seats = licences.free(session) if any(need.licences for _, need in pairs) else {}
    demand: list[EpisodeDemand] = []
    for provider in sorted({row.provider for row, _ in pairs}):
        of_provider = [
            (row, need, numbers.get((row.id, need.id), 0)) for row, need in pairs if row.provider == provider
        ]
        demand += _of_provider(session, provider, rows, of_provider, dict(seats))
    return demand


def _of_provider(
    session: Session,
    provider: str,
    rows: Sequence[Row[Any]],
    pairs: Sequence[tuple[Row[Any], Requirements, int]],
    seats: dict[str, int],
) -> list[EpisodeDemand]:
    seated = [(row, need, _take_seats(need, number, seats)) for row, need, number in pairs]
    waiting: dict[UUID, int] = defaultdict(int)
    for row, _, number in seated:
        waiting[row.id] += number
    left = beginning(now_of(session, provider, rows, {row.id: row for row, _, _ in pairs}.values()), waiting)
    demand = []
    for row, need, number in seated:
        begin = min(number, left[row.id])
        left[row.id] -= begin
        if begin:
            demand.append(EpisodeDemand(provider, row.id, need, row.image, begin))
    return demand


def _take_seats(need: Requirements, number: int, seats: dict[str, int]) -> int:
    """How many of the episodes find seats, which are then taken."""
    for name, seats_per_episode in (need.licences or {}).items():
        number = min(number, max(0, seats.get(name, 0)) // seats_per_episode) if seats_per_episode else number
    for name, seats_per_episode in (need.licences or {}).items():
        seats[name] = seats.get(name, 0) - number * seats_per_episode
    return number
