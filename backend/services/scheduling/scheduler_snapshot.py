"""Reads scheduler rows into the domain's values."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Row
from sqlalchemy.orm import Session

from backend.config import get_settings
from backend.db.repositories.scheduling import scheduler as repository
from backend.domain.scheduling.projects import ProjectRules
from backend.domain.scheduling.reservations import Reserve, Urgency, common
from backend.domain.scheduling.snapshot import ProjectLoad, QueueSnapshot, RunLoad
from backend.domain.scheduling.usage import decay_usage
from backend.services.lifecycle.remote_runs import OUTSIDE


def now_of(session: Session, provider: str, rows: Sequence[Row[Any]], wanting: Iterable[Row[Any]]) -> QueueSnapshot:
    """The queue of a provider.

    Args:
        session: used for slots only if some are reserved.
        provider: provider of the slots.
        rows: of `repository.queue`.
        wanting: rows that want a slot.
    """
    every = repository.reserving(session)
    reserved = {project: int(numbers[provider]) for project, numbers in every.items() if numbers.get(provider)}
    setting = get_settings().reserved_slots
    free, shared = None, 0
    if reserved or setting != "0":
        total, free = repository.slots(session, provider)
        shared = common(setting, total)
    own_rows = [row for row in rows if row.provider == provider]
    interactive = _sums((row.project_id, row.in_use) for row in own_rows if urgency_of(row) is not Urgency.NOBODY)
    return QueueSnapshot(
        provider=provider,
        runs=tuple(run_of(row) for row in wanting),
        projects=projects_of(rows, provider),
        free=free,
        reserve=Reserve(shared, reserved, interactive),
    )


def projects_of(rows: Sequence[Row[Any]], provider: str) -> dict[UUID, ProjectLoad]:
    """Projects of these runs, with their running desktops."""
    in_use: dict[UUID, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for row in rows:
        in_use[row.project_id][row.provider] += row.in_use
    used = _sums((row.project_id, _decayed_usage(row)) for row in rows if row.provider == provider)
    rules = {row.project_id: (row.weight, row.quota, row.reserved) for row in rows}
    return {
        project_id: ProjectLoad(rules_of(*rule), dict(in_use[project_id]), used.get(project_id, 0.0))
        for project_id, rule in rules.items()
    }


def rules_of(weight: float, quota: Mapping[str, int], reserved: Mapping[str, int]) -> ProjectRules:
    """A project's rules, which were validated when written."""
    return ProjectRules.model_construct(weight=weight, quota=quota, reserved=reserved)


def run_of(row: Row[Any]) -> RunLoad:
    """From a run's row."""
    return RunLoad(
        id=row.id,
        project_id=row.project_id,
        provider=row.provider,
        urgency=urgency_of(row),
        priority=row.priority,
        idle_seconds=row.idle_seconds,
        concurrency=row.concurrency,
        in_use=row.in_use,
        used=_decayed_usage(row),
        model_waits=row.model_waits,
        budget_reached=row.budget_reached,
        over_disk_quota=row.over_disk_quota,
    )


def urgency_of(row: Row[Any]) -> Urgency:
    """Whether somebody waits for a run's episodes: a person who acts or tries a draft, or an external program."""
    if row.human or row.hidden:
        return Urgency.PERSON
    return Urgency.PROGRAM if row.agent in OUTSIDE else Urgency.NOBODY


def _decayed_usage(row: Row[Any]) -> float:
    return decay_usage(row.usage_seconds, row.in_use, row.used_since)


def _sums(pairs: Iterable[tuple[UUID, Any]]) -> dict[UUID, Any]:
    sums: dict[UUID, Any] = defaultdict(int)
    for key, value in pairs:
        sums[key] += value
    return dict(sums)
