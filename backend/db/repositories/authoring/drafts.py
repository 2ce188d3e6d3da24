"""Drafts of own tasks, and everything that belongs to them."""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from backend.db.models import (
    Actor,
    Benchmark,
    Run,
    Task,
    TaskDraft,
    TaskDraftAsset,
    TaskDraftRecording,
    TaskDraftReview,
    TaskDraftTrial,
    TaskDraftVersion,
    TaskSet,
)
from backend.db.models.enums import ReviewVerdict
from backend.db.repositories.common_queries import AnyRow, contains_words
from backend.db.repositories.pagination import Columns, CursorPage, sorted_page
from backend.domain.drafts.states import DraftState
from backend.domain.model.sort_order import SortOrder

ORDER: Columns = {
    "task": func.lower(TaskDraft.domain + "/" + TaskDraft.name),
    "state": TaskDraft.state,
    "approvals": TaskDraft.approvals,
    "author": select(func.lower(Actor.name))
    .where(Actor.id == TaskDraft.author_id)
    .correlate(TaskDraft)
    .scalar_subquery(),
    "changed": TaskDraft.updated_at,
}
"""Columns by which a list of drafts can be sorted."""


def get(session: Session, draft_id: UUID) -> TaskDraft | None:
    return session.get(TaskDraft, draft_id)


def lock(session: Session, draft_id: UUID) -> TaskDraft | None:
    """The current draft, locked until the commit."""
    query = select(TaskDraft).where(TaskDraft.id == draft_id).with_for_update(key_share=True)
    return session.scalar(query.execution_options(populate_existing=True))


def listing(  # noqa: PLR0913 - one keyword per thing to ask by
    session: Session,
    project_id: UUID,
    *,
    states: Collection[str] = (),
    benchmark: str | None = None,
    words: str = "",
    cursor: str | None = None,
    limit: int = 50,
    order: SortOrder | None = None,
) -> CursorPage[TaskDraft]:
    """Drafts, newest first or in another order. `words` is searched in key and instruction."""
    query = select(TaskDraft).where(TaskDraft.project_id == project_id)
    if states:
        query = query.where(TaskDraft.state.in_(list(states)))
    if benchmark is not None:
        query = query.where(TaskDraft.benchmark == benchmark)
    if words:
        query = query.where(
            contains_words(words, TaskDraft.domain + "/" + TaskDraft.name + " " + TaskDraft.instruction)
        )
    return sorted_page(session, query, TaskDraft.id, ORDER, order=order, cursor=cursor, limit=limit)


def counts(session: Session, project_id: UUID) -> dict[str, int]:
    """Drafts by state."""
    query = select(TaskDraft.state, func.count()).where(TaskDraft.project_id == project_id).group_by(TaskDraft.state)
    return {row[0]: row[1] for row in session.execute(query)}


def open_one(session: Session, project_id: UUID, benchmark: str, domain: str, name: str) -> TaskDraft | None:
    """The unpublished draft with that key."""
    query = select(TaskDraft).where(
        TaskDraft.project_id == project_id,
        TaskDraft.benchmark == benchmark,
        TaskDraft.domain == domain,
        TaskDraft.name == name,
        TaskDraft.published_task_set_id.is_(None),
    )
    return session.scalar(query.limit(1))


def unpublished_drafts(session: Session, project_id: UUID, benchmark: str) -> list[TaskDraft]:
    """Approved drafts that wait for the next version of a benchmark, locked, oldest first."""
    query = (
        select(TaskDraft)
        .where(TaskDraft.project_id == project_id, TaskDraft.benchmark == benchmark)
        .where(TaskDraft.state == DraftState.APPROVED.value, TaskDraft.published_task_set_id.is_(None))
        .order_by(TaskDraft.id)
    )
    return list(session.scalars(query.with_for_update(key_share=True).execution_options(populate_existing=True)))


def waiting(session: Session, project_id: UUID) -> dict[str, int]:
    """Number of approved, unpublished drafts."""
    query = select(TaskDraft.benchmark, func.count()).where(
        TaskDraft.project_id == project_id,
        TaskDraft.state == DraftState.APPROVED.value,
        TaskDraft.published_task_set_id.is_(None),
    )
    return {row[0]: row[1] for row in session.execute(query.group_by(TaskDraft.benchmark))}


def version(session: Session, draft_id: UUID, number: int) -> TaskDraftVersion | None:
    query = select(TaskDraftVersion).where(TaskDraftVersion.draft_id == draft_id, TaskDraftVersion.number == number)
    return session.scalar(query)


def versions(session: Session, draft_id: UUID) -> Sequence[AnyRow]:
    """Rows (TaskDraftVersion, actor's name), newest first."""
    query = (
        select(TaskDraftVersion, Actor.name)
        .join(Actor, Actor.id == TaskDraftVersion.actor_id)
        .where(TaskDraftVersion.draft_id == draft_id)
        .order_by(TaskDraftVersion.number.desc())
    )
    return session.execute(query).all()


def writers(session: Session, draft_id: UUID) -> set[UUID]:
    """Authors of all versions."""
    return set(session.scalars(select(TaskDraftVersion.actor_id).where(TaskDraftVersion.draft_id == draft_id)))


def reviews(session: Session, draft_id: UUID) -> Sequence[AnyRow]:
    """Rows (TaskDraftReview, actor's name), newest first."""
    query = (
        select(TaskDraftReview, Actor.name)
        .join(Actor, Actor.id == TaskDraftReview.actor_id)
        .where(TaskDraftReview.draft_id == draft_id)
        .order_by(TaskDraftReview.id.desc())
    )
    return session.execute(query).all()


def review_of(session: Session, draft_id: UUID, number: int, actor_id: UUID) -> TaskDraftReview | None:
    """A person's review of a version."""
    query = select(TaskDraftReview).where(
        TaskDraftReview.draft_id == draft_id, TaskDraftReview.version == number, TaskDraftReview.actor_id == actor_id
    )
    return session.scalar(query)


def approvals(session: Session, draft_id: UUID, number: int) -> int:
    """Number of approvals of a version."""
    query = select(func.count()).where(
        TaskDraftReview.draft_id == draft_id,
        TaskDraftReview.version == number,
        TaskDraftReview.verdict == ReviewVerdict.APPROVE.value,
    )
    return session.scalar(query) or 0


def newest_try(session: Session, draft_id: UUID, content_hash: str | None = None) -> TaskDraftTrial | None:
    """The newest trial, optionally of that content."""
    query = select(TaskDraftTrial).where(TaskDraftTrial.draft_id == draft_id)
    if content_hash is not None:
        query = query.where(TaskDraftTrial.content_hash == content_hash)
    return session.scalar(query.order_by(TaskDraftTrial.id.desc()).limit(1))


def recordings(session: Session, draft_id: UUID) -> Sequence[AnyRow]:
    """Rows (TaskDraftRecording, Run), newest first."""
    query = (
        select(TaskDraftRecording, Run)
        .join(Run, Run.id == TaskDraftRecording.run_id)
        .where(TaskDraftRecording.draft_id == draft_id)
        .order_by(TaskDraftRecording.id.desc())
    )
    return session.execute(query).all()


def recording(session: Session, recording_id: UUID) -> TaskDraftRecording | None:
    """One recording, locked."""
    query = select(TaskDraftRecording).where(TaskDraftRecording.id == recording_id)
    return session.scalar(query.with_for_update(key_share=True).execution_options(populate_existing=True))


def draft_of_run(session: Session, run_id: UUID) -> UUID | None:
    """The draft for which a run is a recording."""
    return session.scalar(select(TaskDraftRecording.draft_id).where(TaskDraftRecording.run_id == run_id))


def add_asset(session: Session, draft_id: UUID, sha256: str) -> None:
    """Stores bytes for a draft. Safe to call twice."""
    query = insert(TaskDraftAsset).values(draft_id=draft_id, sha256=sha256)
    session.execute(query.on_conflict_do_nothing())


def assets(session: Session, draft_id: UUID) -> set[str]:
    """Hashes of a draft's uploads."""
    return set(session.scalars(select(TaskDraftAsset.sha256).where(TaskDraftAsset.draft_id == draft_id)))


def names(session: Session, actor_ids: Collection[UUID]) -> dict[UUID, str]:
    """Names of actors."""
    query = select(Actor.id, Actor.name).where(Actor.id.in_(list(actor_ids)))
    return {row[0]: row[1] for row in session.execute(query)}


def instructions(session: Session, *, most: int) -> Sequence[AnyRow]:
    """(benchmark, key, instruction) of the newest version of every benchmark that is not hidden."""
    newest = select(func.max(TaskSet.version)).where(TaskSet.benchmark_id == Benchmark.id).correlate(Benchmark)
    query: Any = (
        select(Benchmark.name, (Task.domain + "/" + Task.name).label("key"), Task.instruction)
        .join(TaskSet, TaskSet.benchmark_id == Benchmark.id)
        .join(Task, Task.task_set_id == TaskSet.id)
        .where(~Benchmark.hidden, TaskSet.version == newest.scalar_subquery())
        .order_by(Benchmark.name, Task.id)
        .limit(most)
    )
    return session.execute(query).all()


def other_drafts(session: Session, draft: TaskDraft, *, most: int) -> Sequence[AnyRow]:
    """(key, instruction) of the project's other drafts that were neither rejected nor published."""
    query = (
        select((TaskDraft.domain + "/" + TaskDraft.name).label("key"), TaskDraft.instruction)
        .where(TaskDraft.project_id == draft.project_id, TaskDraft.id != draft.id)
        .where(TaskDraft.state != DraftState.REJECTED.value, TaskDraft.published_task_set_id.is_(None))
        .order_by(TaskDraft.id)
        .limit(most)
    )
    return session.execute(query).all()
