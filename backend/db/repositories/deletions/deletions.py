"""Deletions, and the rows that they mark."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, case, cast, delete, exists, func, select, update
from sqlalchemy.orm import Session, aliased

from backend.db.models import (
    Benchmark,
    Deletion,
    Episode,
    OfflineCell,
    PassRollup,
    Run,
    Study,
    TaskDraftRecording,
    TaskDraftTrial,
    TaskSet,
)
from backend.db.models.attempts.reevaluation import Reevaluation
from backend.db.models.enums import DeletionKind, ReevaluationState
from backend.db.repositories.pagination import Columns, CursorPage, sorted_page
from backend.domain.model.episode import EpisodeState
from backend.domain.model.sort_order import SortOrder

_RANK = {kind.value: index for index, kind in enumerate(DeletionKind)}
_REMOVED = func.jsonb_each_text(Deletion.removed).table_valued("key", "value").lateral("removed_rows")
ORDER: Columns = {
    "name": func.lower(Deletion.name),
    "kind": Deletion.kind,
    "state": Deletion.finished_at.is_(None),
    "deleted-by": func.lower(Deletion.requested_by),
    "when": Deletion.created_at,
    "rows-removed": select(func.coalesce(func.sum(cast(_REMOVED.c.value, BigInteger)), 0)).scalar_subquery(),
}
"""Columns by which the list can be sorted."""


def add(  # noqa: PLR0913 - its columns
    session: Session, kind: DeletionKind, target_id: UUID, *, project_id: UUID, name: str, by: str
) -> Deletion:
    """Adds a deletion."""
    row = Deletion(kind=kind, target_id=target_id, project_id=project_id, name=name, requested_by=by)
    session.add(row)
    session.flush()
    return row


def get(session: Session, deletion_id: UUID) -> Deletion | None:
    """A deletion."""
    return session.get(Deletion, deletion_id)


def listing(session: Session, *, cursor: str | None, limit: int, order: SortOrder | None = None) -> CursorPage[Any]:
    """Deletions, newest first or in another order."""
    return sorted_page(session, select(Deletion), Deletion.id, ORDER, order=order, cursor=cursor, limit=limit)


def claim(session: Session) -> Deletion | None:
    """The next unfinished deletion, locked: of several of one project runs come first, and benchmarks last."""
    other = aliased(Deletion)
    rank, other_rank = (case(_RANK, value=row.kind) for row in (Deletion, other))
    earlier = exists().where(other.finished_at.is_(None), other.project_id == Deletion.project_id, other_rank < rank)
    query = select(Deletion).where(Deletion.finished_at.is_(None), ~earlier).order_by(Deletion.id).limit(1)
    return session.scalar(query.with_for_update(skip_locked=True, of=Deletion))


def lock(session: Session, table: Any, target_id: UUID) -> Any:
    """The row of a table that has `deleted_at`, locked; None if missing."""
    return session.scalar(select(table).where(table.id == target_id, table.deleted_at.is_(None)).with_for_update())


def runs_of_task_sets(session: Session, task_set_ids: Sequence[UUID]) -> Sequence[Run]:
    """Runs on these task sets, locked, oldest first."""
    return _locked_runs(session, Run.task_set_id.in_(task_set_ids))


def runs_of_configuration(session: Session, configuration_id: UUID) -> Sequence[Run]:
    """Runs of a configuration, locked, oldest first."""
    return _locked_runs(session, Run.agent_configuration_id == configuration_id)


def runs_of_study(session: Session, study_id: UUID) -> Sequence[Run]:
    """Runs of a study, locked, oldest first."""
    return _locked_runs(session, Run.study_id == study_id)


def recordings_of_draft(session: Session, draft_id: UUID) -> Sequence[Run]:
    """Runs in which a draft was recorded, locked, oldest first."""
    recorded = select(TaskDraftRecording.run_id).where(TaskDraftRecording.draft_id == draft_id)
    return _locked_runs(session, Run.id.in_(recorded))


def _locked_runs(session: Session, which: Any) -> Sequence[Run]:
    return session.scalars(select(Run).where(which, Run.deleted_at.is_(None)).order_by(Run.id).with_for_update()).all()


def studies(session: Session, study_ids: Sequence[UUID]) -> Sequence[Study]:
    """Studies, locked."""
    query = select(Study).where(Study.id.in_(study_ids), Study.deleted_at.is_(None)).order_by(Study.id)
    return session.scalars(query.with_for_update()).all()


def task_sets_of_benchmark(session: Session, benchmark_id: UUID) -> Sequence[UUID]:
    """Versions of a benchmark."""
    return session.scalars(select(TaskSet.id).where(TaskSet.benchmark_id == benchmark_id)).all()


def trial_task_sets(session: Session, draft_id: UUID) -> Sequence[UUID]:
    """Hidden task sets with trials and recordings of this draft and of no other one."""
    other = aliased(TaskDraftTrial)
    shared = exists().where(other.task_set_id == TaskSet.id, other.draft_id != draft_id)
    tried = select(TaskDraftTrial.task_set_id).where(TaskDraftTrial.draft_id == draft_id)
    recorded = (
        select(Run.task_set_id)
        .join(TaskDraftRecording, TaskDraftRecording.run_id == Run.id)
        .where(TaskDraftRecording.draft_id == draft_id)
    )
    own = TaskSet.id.in_(tried) | TaskSet.id.in_(recorded)
    query = select(TaskSet.id).join(Benchmark).where(own, Benchmark.hidden, ~shared)
    return session.scalars(query).all()


def live_among(session: Session, run_ids: Sequence[UUID]) -> int:
    """Number of episodes of these runs that run, or whose evidence is about to be evaluated again."""
    running = select(func.count()).where(Episode.run_id.in_(run_ids), Episode.state == EpisodeState.RUNNING)
    again = select(func.count()).select_from(Reevaluation).join(Episode, Episode.id == Reevaluation.episode_id)
    again = again.where(Episode.run_id.in_(run_ids), Reevaluation.state == ReevaluationState.WAITING)
    return session.scalars(running).one() + session.scalars(again).one()


def drafts_recorded_in(session: Session, run_id: UUID) -> int:
    """Number of drafts that were recorded in a run."""
    return session.scalars(select(func.count()).where(TaskDraftRecording.run_id == run_id)).one()


def offline_cells(session: Session, configuration_id: UUID) -> int:
    """Number of cells of offline studies with a configuration."""
    return session.scalars(select(func.count()).where(OfflineCell.agent_configuration_id == configuration_id)).one()


def forget_on_boards(session: Session, runs: Sequence[Run]) -> None:
    """Removes what boards show of configurations with these runs; the figures of their other runs are recomputed."""
    for task_set_id, configuration_id in {(run.task_set_id, run.agent_configuration_id) for run in runs}:
        query = delete(PassRollup).where(
            PassRollup.task_set_id == task_set_id, PassRollup.agent_configuration_id == configuration_id
        )
        session.execute(query.execution_options(synchronize_session=False))
        stale_runs = update(Run).where(
            Run.task_set_id == task_set_id,
            Run.agent_configuration_id == configuration_id,
            Run.deleted_at.is_(None),
        )
        session.execute(stale_runs.values(rollup_stale=True).execution_options(synchronize_session=False))
