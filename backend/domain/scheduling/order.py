"""The scheduler's order: interactive first, then priority, then fair shares of projects, then of their runs."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from uuid import UUID

from backend.domain.scheduling.bounds import has_room
from backend.domain.scheduling.fair_share import ShareHolder, deficits
from backend.domain.scheduling.priorities import effective
from backend.domain.scheduling.reservations import Urgency
from backend.domain.scheduling.snapshot import ProjectLoad, QueueSnapshot, RunLoad


def turns(now: QueueSnapshot, number: int, without: Collection[UUID] = ()) -> list[UUID]:
    """The runs that get the next slots, one entry per slot; fewer than `number` where no run may have more.

    Args:
        now: the queue.
        number: of free slots to give.
        without: runs that cannot take any for another reason.
    """
    ids: list[UUID] = []
    now = replace(now, runs=tuple(run for run in now.runs if run.id not in without))
    while len(ids) < number and (run := next_run(now)) is not None:
        ids.append(run.id)
        now = with_slot(now, run)
    return ids


def next_run(now: QueueSnapshot) -> RunLoad | None:
    """The next run; None if none may have a slot."""
    able = [run for run in now.runs if has_room(now, run)]
    if not able:
        return None
    first = max(rank(now, run) for run in able)
    equals = [run for run in able if rank(now, run) == first]
    project_id = _most_lacking(equals, now)
    return _by_share(run for run in equals if run.project_id == project_id)


def with_slot(now: QueueSnapshot, run: RunLoad) -> QueueSnapshot:
    """The queue after the run got one slot."""
    project, provider = now.projects[run.project_id], now.provider
    in_use = {**project.in_use, provider: project.in_use.get(provider, 0) + 1}
    reserve = now.reserve
    if run.urgency is not Urgency.NOBODY:
        used = {**reserve.in_use, run.project_id: reserve.in_use.get(run.project_id, 0) + 1}
        reserve = replace(reserve, in_use=used)
    after = replace(run, in_use=run.in_use + 1, idle_seconds=0.0)
    return replace(
        now,
        runs=tuple(after if load.id == run.id else load for load in now.runs),
        projects={**now.projects, run.project_id: replace(project, in_use=in_use)},
        free=None if now.free is None else now.free - 1,
        reserve=reserve,
    )


def rank(now: QueueSnapshot, run: RunLoad) -> tuple[int, int]:
    """Sort key that precedes fair shares, higher first: urgency, then the run's priority."""
    urgency = run.urgency
    if urgency is Urgency.PROGRAM and not now.reserve.open_to(run.project_id):
        urgency = Urgency.NOBODY
    return int(urgency), effective(run.priority, 0.0 if run.in_use else run.idle_seconds)


def _most_lacking(runs: Iterable[RunLoad], now: QueueSnapshot) -> UUID:
    """The next project among those of these runs; of equal ones, the one with the oldest run."""
    ids = dict.fromkeys(run.project_id for run in runs)
    lacking = deficits({project_id: _sharer(now.projects[project_id], now.provider) for project_id in ids})
    return max(ids, key=lambda project_id: lacking[project_id])


def _sharer(project: ProjectLoad, provider: str) -> ShareHolder:
    return ShareHolder(project.rules.weight, project.in_use.get(provider, 0), project.used)


def _by_share(runs: Iterable[RunLoad]) -> RunLoad:
    """The next run of one project; of equal ones, the oldest."""
    by_id = {run.id: run for run in runs}
    lacking = deficits({run.id: ShareHolder(1.0, run.in_use, run.used) for run in by_id.values()})
    return by_id[max(by_id, key=lambda project_id: lacking[project_id])]
