"""Data that a project's retention rules no longer keep."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, delete, exists, func, select, update
from sqlalchemy.orm import Session, aliased

from backend.db.models import Attempt, AttemptVideo, Episode, JudgeResponse, Run, Step, Study, TaskDraft
from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.scheduling.autoscaling_signals import first_key
from backend.domain.drafts.states import DraftState
from backend.domain.model.episode import ENDED_RUNS

_ENDED = [state.value for state in ENDED_RUNS]


def runs(session: Session, project_id: UUID, before: datetime) -> Sequence[AnyRow]:
    """(id, name, at) of runs outside of studies that ended before, oldest first."""
    query = select(Run.id, Run.name, Run.ended_at.label("at")).where(
        Run.project_id == project_id,
        Run.deleted_at.is_(None),
        Run.study_id.is_(None),
        Run.state.in_(_ENDED),
        Run.ended_at < before,
    )
    return session.execute(query.order_by(Run.ended_at, Run.id)).all()


def studies(session: Session, project_id: UUID, before: datetime) -> Sequence[AnyRow]:
    """(id, name, at) of studies all of whose runs ended before, oldest first."""
    newest = func.max(Run.ended_at)
    query = (
        select(Study.id, Study.name, newest.label("at"))
        .join(Run, Run.study_id == Study.id)
        .where(Study.project_id == project_id, Study.deleted_at.is_(None), Run.deleted_at.is_(None))
        .group_by(Study.id, Study.name)
        .having(func.bool_and(Run.state.in_(_ENDED)) & (newest < before))
    )
    return session.execute(query.order_by(newest, Study.id)).all()


def drafts(session: Session, project_id: UUID, before: datetime) -> Sequence[AnyRow]:
    """(id, name, at) of drafts unchanged since then and not in review, oldest first."""
    name = (TaskDraft.domain + "/" + TaskDraft.name).label("name")
    query = select(TaskDraft.id, name, TaskDraft.updated_at.label("at")).where(
        TaskDraft.project_id == project_id,
        TaskDraft.deleted_at.is_(None),
        TaskDraft.state != DraftState.IN_REVIEW,
        TaskDraft.updated_at < before,
    )
    return session.execute(query.order_by(TaskDraft.updated_at, TaskDraft.id)).all()


def _thinned_steps(project_id: UUID, since: datetime | None, before: datetime) -> ColumnElement[bool]:
    """Steps whose screens no verdict needs: not the state that was scored, and not what a judge has seen."""
    later = aliased(Step)
    last = ~exists().where(later.attempt_id == Step.attempt_id, later.index > Step.index)
    judged = exists().where(JudgeResponse.attempt_id == Step.attempt_id)
    ended = (
        select(Attempt.id)
        .join(Episode, Episode.id == Attempt.episode_id)
        .join(Run, Run.id == Episode.run_id)
        .where(Run.project_id == project_id, ~Attempt.live, Run.state.in_(_ENDED))
    )
    aged = Step.id < first_key(before)
    if since is not None:
        aged &= Step.id >= first_key(since)
    some = Step.frame_sha256.is_not(None) | Step.a11y_sha256.is_not(None) | Step.agent_view_sha256.is_not(None)
    some |= Step.prompt_sha256.is_not(None)
    return aged & some & Step.attempt_id.in_(ended) & ~last & ~judged


def screens(session: Session, project_id: UUID, since: datetime | None, before: datetime) -> int:
    """Number of steps to thin."""
    return session.scalars(select(func.count()).where(_thinned_steps(project_id, since, before))).one()


def thin(session: Session, project_id: UUID, since: datetime | None, before: datetime, limit: int) -> int:
    """Removes the screens of at most `limit` steps, and their attempts' videos. Returns the number of steps."""
    some = select(Step.id).where(_thinned_steps(project_id, since, before)).order_by(Step.id).limit(limit)
    ids = session.scalars(some).all()
    if ids:
        empty = dict.fromkeys(("frame_sha256", "a11y_sha256", "agent_view_sha256", "prompt_sha256"))
        session.execute(update(Step).where(Step.id.in_(ids)).values(empty).execution_options(synchronize_session=False))
        attempts = select(Step.attempt_id).where(Step.id.in_(ids))
        session.execute(
            delete(AttemptVideo)
            .where(AttemptVideo.attempt_id.in_(attempts))
            .execution_options(synchronize_session=False)
        )
    return len(ids)
