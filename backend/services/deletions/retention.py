"""Retention: deletes what is older than its project allows, and thins old screens. Workers apply it once an hour."""

import logging
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.models import Project
from backend.db.models.enums import Role
from backend.db.repositories.artifacts import retention as repository
from backend.db.repositories.capacity import workers
from backend.db.repositories.deletions import expired
from backend.db.session import SessionFactory, unit_of_work
from backend.domain.errors import Conflict, Invalid, NotFound
from backend.services.accounts import audit
from backend.services.accounts.principal import Principal, bind, principal_of
from backend.services.artifacts import storage_quota
from backend.services.deletions import deletions
from backend.services.read_model import ReadModel

EVERY = timedelta(hours=1)
BATCH = 1000
SHOWN = 100
"""Items of a kind that a preview lists."""
RULES = ("run_days", "draft_days", "screen_days", "disk_quota_mib")
MOST = 10**9
logger = logging.getLogger(__name__)


class RetentionView(ReadModel):
    """Rules of a project; null: no limit."""

    run_days: int | None = Field(default=None, description="Days after their end when runs and studies are deleted.")
    draft_days: int | None = Field(
        default=None, description="Days without a change after which drafts are deleted, except those in review."
    )
    screen_days: int | None = Field(
        default=None,
        description="Pictures, trees and prompts of older steps are removed. The state that was scored, what a judge "
        "has seen, and evidence stay.",
    )
    disk_quota_mib: int | None = Field(default=None, description="MiB; over it, new runs are refused.")
    stored_bytes: int | None = Field(default=None, description="Artifacts of the project, as counted at `stored_at`.")
    stored_at: datetime | None = None


class ExpiredItem(ReadModel):
    """Something that is old enough; `at` is what its age counts from."""

    id: UUID
    name: str
    at: datetime


class RetentionPreview(ReadModel):
    """Data that the rules would remove now. The lists have the oldest 100; `counts` counts all."""

    counts: dict[str, int] = Field(examples=[{"runs": 3, "studies": 0, "drafts": 1, "screens": 1200}])
    runs: list[ExpiredItem]
    studies: list[ExpiredItem]
    drafts: list[ExpiredItem]


def get_retention(session: Session, project: Project) -> RetentionView:
    """The rules of a project."""
    row = repository.of_project(session, project.id)
    return RetentionView() if row is None else RetentionView.model_validate(row)


def set_retention(session: Session, project: Project, changes: Mapping[str, int | None]) -> RetentionView:
    """Changes rules; None removes one. Rules apply within the hour.

    Raises:
        NotAllowed: only administrators of the installation may change the quota.
        Invalid: a number is out of its range.
    """
    checked = {name: _check(name, value) for name, value in changes.items()}
    if "disk_quota_mib" in checked:
        principal_of(session).require_admin()
    row = repository.get_locked(session, project.id)
    before = {name: getattr(row, name) for name in RULES}
    for name, value in checked.items():
        setattr(row, name, value)
    row.applied_at = None
    audit.record(session, "set_retention", project.name, audit.differences(before, checked))
    session.flush()
    return RetentionView.model_validate(row)


def preview(session: Session, project: Project, rules: Mapping[str, int | None] | None = None) -> RetentionPreview:
    """Objects that a project's rules would remove now. Removes nothing.

    Args:
        session: the transaction.
        project: the project.
        rules: other rules than the project's.

    Raises:
        Invalid: a number is out of its range.
    """
    row = repository.of_project(session, project.id)
    days = {name: getattr(row, name, None) for name in RULES}
    days |= {name: _check(name, value) for name, value in (rules or {}).items()}
    now = workers.now(session)

    def items(kind: str, query: Callable[..., Any]) -> list[ExpiredItem]:
        age = days[kind]
        rows = query(session, project.id, now - timedelta(days=age)) if age else []
        return [ExpiredItem(id=item.id, name=item.name or str(item.id), at=item.at) for item in rows]

    runs, studies = items("run_days", expired.runs), items("run_days", expired.studies)
    drafts = items("draft_days", expired.drafts)
    age = days["screen_days"]
    screens = expired.screens(session, project.id, None, now - timedelta(days=age)) if age else 0
    counts = {"runs": len(runs), "studies": len(studies), "drafts": len(drafts), "screens": screens}
    return RetentionPreview(counts=counts, runs=runs[:SHOWN], studies=studies[:SHOWN], drafts=drafts[:SHOWN])


def apply_due(factory: SessionFactory, now: datetime | None = None) -> dict[str, int]:
    """Applies the rules of one project that were not applied within the hour, and counts what it stores.

    Safe to call from several processes at once, and to stop at any moment: what is left follows an hour later.

    Returns:
        Number of deleted runs, studies and drafts, and of thinned steps; empty if no project was due.
    """
    with unit_of_work(factory) as session:
        now = now or workers.now(session)
        row = repository.claim(session, now - EVERY)
        if row is None:
            return {}
        project_id, rules = row.project_id, {name: getattr(row, name) for name in RULES}
        since = row.thinned_until
    counts = {"runs": 0, "studies": 0, "drafts": 0, "screens": 0}
    kinds: tuple[tuple[str, str, Callable[..., Any], Callable[..., Any]], ...] = (
        ("runs", "run_days", expired.runs, deletions.delete_run),
        ("studies", "run_days", expired.studies, deletions.delete_study),
        ("drafts", "draft_days", expired.drafts, deletions.delete_draft),
    )
    for kind, rule, query, delete in kinds:
        if days := rules[rule]:
            with unit_of_work(factory) as session:
                ids = [row.id for row in query(session, project_id, now - timedelta(days=days))]
            counts[kind] = sum(_delete(factory, project_id, delete, row_id) for row_id in ids)
    if days := rules["screen_days"]:
        counts["screens"] = _thin(factory, project_id, since, now - timedelta(days=days))
    with unit_of_work(factory) as session:
        storage_quota.count_stored(session, project_id)
    if any(counts.values()):
        logger.info("retention of project %s: %s", project_id, counts)
    return counts


def _delete(factory: SessionFactory, project_id: UUID, delete: Callable[..., Any], target_id: UUID) -> bool:
    try:
        with unit_of_work(factory) as session:
            bind(session, Principal("retention", Role.ADMIN, admin=True, program=True, project_id=project_id))
            delete(session, target_id)
    except (Conflict, NotFound) as error:  # Something needs it still, or somebody else has deleted it.
        logger.info("%s is kept: %s", target_id, error)
        return False
    return True


def _thin(factory: SessionFactory, project_id: UUID, since: datetime | None, before: datetime) -> int:
    total = 0
    while True:
        with unit_of_work(factory) as session:
            number = expired.thin(session, project_id, since, before, BATCH)
            total += number
            if number < BATCH:
                repository.get_locked(session, project_id).thinned_until = before
                return total


def _check(name: str, value: int | None) -> int | None:
    least = 0 if name == "disk_quota_mib" else 1
    if name not in RULES or (value is not None and not least <= value <= MOST):
        raise Invalid(f"expected a whole number of at least {least}, or nothing", code="invalid_request", path=name)
    return value
