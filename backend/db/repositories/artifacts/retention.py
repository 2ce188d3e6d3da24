"""Rules of retention, and how much projects store."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import func, or_, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from backend.db.models import Retention

_STORED = text("""
    WITH taken AS MATERIALIZED (
        SELECT attempt.id FROM attempt
        JOIN episode ON episode.id = attempt.episode_id JOIN run ON run.id = episode.run_id
        WHERE run.project_id = :project
    )
    SELECT coalesce(sum(size), 0)::bigint FROM artifact WHERE sha256 IN (
        SELECT frame_sha256 FROM step WHERE attempt_id IN (SELECT id FROM taken)
        UNION SELECT a11y_sha256 FROM step WHERE attempt_id IN (SELECT id FROM taken)
        UNION SELECT agent_view_sha256 FROM step WHERE attempt_id IN (SELECT id FROM taken)
        UNION SELECT prompt_sha256 FROM step WHERE attempt_id IN (SELECT id FROM taken)
        UNION SELECT sha256 FROM attempt_video WHERE attempt_id IN (SELECT id FROM taken)
        UNION SELECT evidence.sha256 FROM evidence JOIN evaluation ON evaluation.id = evidence.evaluation_id
            WHERE evaluation.attempt_id IN (SELECT id FROM taken)
        UNION SELECT task_asset.sha256 FROM task_asset JOIN task_set ON task_set.id = task_asset.task_set_id
            JOIN benchmark ON benchmark.id = task_set.benchmark_id WHERE benchmark.project_id = :project
        UNION SELECT sha256 FROM web_asset WHERE project_id = :project
        UNION SELECT task_draft_asset.sha256 FROM task_draft_asset
            JOIN task_draft ON task_draft.id = task_draft_asset.draft_id WHERE task_draft.project_id = :project
        UNION SELECT unnest(ARRAY[step.frame_sha256, step.tree_sha256]) FROM demonstration_step AS step
            JOIN demonstration ON demonstration.id = step.demonstration_id
            JOIN demonstration_set ON demonstration_set.id = demonstration.set_id
            WHERE demonstration_set.project_id = :project
    )
""")


def of_project(session: Session, project_id: UUID) -> Retention | None:
    """Rules of a project, if it has any."""
    return session.get(Retention, project_id)


def get_locked(session: Session, project_id: UUID) -> Retention:
    """Rules of a project, made if missing, locked."""
    session.execute(insert(Retention).values(project_id=project_id).on_conflict_do_nothing())
    query = select(Retention).where(Retention.project_id == project_id).with_for_update()
    return session.scalars(query.execution_options(populate_existing=True)).one()


def claim(session: Session, before: datetime) -> Retention | None:
    """Claims rules that were not applied since then, and marks them as applied now."""
    due = or_(Retention.applied_at.is_(None), Retention.applied_at < before)
    query = select(Retention).where(due).order_by(Retention.project_id).limit(1).with_for_update(skip_locked=True)
    row = session.scalar(query)
    if row is not None:
        session.execute(update(Retention).where(Retention.project_id == row.project_id).values(applied_at=func.now()))
    return row


def stored_bytes(session: Session, project_id: UUID) -> int:
    """Bytes of all artifacts that a project refers to, each once. Takes seconds for a million steps."""
    session.execute(text("SET LOCAL statement_timeout TO '600s'"))
    return int(session.scalars(_STORED, {"project": project_id}).one())
