"""Spending and budgets of runs and projects."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Row, TextClause, func, or_, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import InstrumentedAttribute, Session

from backend.db.models import OfflineAnswer, OfflineCell, OfflineStudy, Project, ProjectBudget, Run, TaskDraftRequest
from backend.domain.model.episode import ENDED_RUNS
from backend.domain.scheduling.budgets import Spending


def _spent(scope: str) -> TextClause:
    # The steps of attempts that go on, or were lost, are not summed yet.
    return text(f"""
    WITH taken AS MATERIALIZED (
        SELECT a.id, a.usage, a.started_at, a.ended_at FROM attempt a
        JOIN episode e ON e.id = a.episode_id JOIN run r ON r.id = e.run_id WHERE {scope}
    ), used AS (
        SELECT usage FROM taken WHERE usage IS NOT NULL
        UNION ALL SELECT s.usage FROM step s JOIN taken t ON t.id = s.attempt_id WHERE t.usage IS NULL
    )
    SELECT coalesce((SELECT sum((usage ->> 'usd')::float) FROM used), 0)
            + coalesce((SELECT sum(j.usd) FROM judge_response j JOIN taken t ON t.id = j.attempt_id), 0) AS usd,
        coalesce((SELECT sum(coalesce((usage ->> 'input_tokens')::float, 0)
            + coalesce((usage ->> 'output_tokens')::float, 0)) FROM used), 0)::bigint AS tokens,
        coalesce((SELECT sum(extract(epoch FROM coalesce(ended_at, clock_timestamp()) - started_at)) FROM taken), 0)
            ::float / 3600 AS desktop_hours
    """)  # noqa: S608 - constant texts


_OF_RUN = _spent("r.id = :id")
_OF_PROJECT = _spent("r.project_id = :id AND (r.ended_at IS NULL OR r.ended_at >= :since) AND a.started_at >= :since")


def spent_by_run(session: Session, run_id: UUID) -> Spending:
    """Spending of all attempts of a run so far."""
    return _spending(session.execute(_OF_RUN, {"id": run_id}).one())


def spent_by_project(session: Session, project_id: UUID, since: datetime) -> Spending:
    """Spending of a project since that time: attempts that began since then, offline answers and generated drafts."""
    spent = _spending(session.execute(_OF_PROJECT, {"id": project_id, "since": since}).one())
    answers = (
        select(*_sums(OfflineAnswer.usage))
        .join(OfflineCell, OfflineCell.id == OfflineAnswer.cell_id)
        .join(OfflineStudy, OfflineStudy.id == OfflineCell.study_id)
        .where(OfflineStudy.project_id == project_id, OfflineAnswer.ended_at >= since)
    )
    drafts = select(*_sums(TaskDraftRequest.usage)).where(
        TaskDraftRequest.project_id == project_id, TaskDraftRequest.ended_at >= since
    )
    usd, tokens = spent.usd or 0.0, spent.tokens or 0
    for more_usd, more_tokens in (session.execute(query).one() for query in (answers, drafts)):
        usd, tokens = usd + more_usd, tokens + int(more_tokens)
    return Spending(usd, tokens, spent.desktop_hours)


def _sums(usage: InstrumentedAttribute[Any]) -> tuple[ColumnElement[float], ColumnElement[float]]:
    """Dollars and tokens of all rows."""
    columns = {name: func.coalesce(usage[name].as_float(), 0.0) for name in ("usd", "input_tokens", "output_tokens")}
    return func.coalesce(func.sum(columns["usd"]), 0.0), func.coalesce(
        func.sum(columns["input_tokens"] + columns["output_tokens"]), 0.0
    )


def _spending(row: Row[Any]) -> Spending:
    return Spending(row.usd, row.tokens, row.desktop_hours)


def limited_runs(session: Session) -> Sequence[UUID]:
    """Active runs that have a budget, or had one when it was reached."""
    limited = or_(
        Run.run_usd.is_not(None),
        Run.run_tokens.is_not(None),
        Run.run_desktop_hours.is_not(None),
        Run.budget_reached != "",
    )
    return session.scalars(select(Run.id).where(Run.state.not_in(ENDED_RUNS), limited).order_by(Run.id)).all()


OVER_BUDGET = select(ProjectBudget.project_id).where(ProjectBudget.reached != "")  # noqa: PLC1901 - SQL
"""Projects that may spend nothing for now."""


def reached_by(session: Session, project_ids: Collection[UUID]) -> dict[UUID, str]:
    """Which limit each of these projects has reached; without those that have not."""
    query = select(ProjectBudget.project_id, ProjectBudget.reached).where(
        ProjectBudget.project_id.in_(project_ids),
        ProjectBudget.reached != "",  # noqa: PLC1901 - SQL
    )
    return {row.project_id: row.reached for row in session.execute(query.order_by(ProjectBudget.period.desc()))}


def of_project(session: Session, project_id: UUID) -> Sequence[ProjectBudget]:
    """A project's budgets by period."""
    query = select(ProjectBudget).where(ProjectBudget.project_id == project_id).order_by(ProjectBudget.period)
    return session.scalars(query).all()


def get_locked(session: Session, project_id: UUID, period: str) -> ProjectBudget:
    """A project's budget of a period, made if missing, locked."""
    session.execute(insert(ProjectBudget).values(project_id=project_id, period=period).on_conflict_do_nothing())
    query = select(ProjectBudget).where(ProjectBudget.project_id == project_id, ProjectBudget.period == period)
    return session.scalars(query.with_for_update().execution_options(populate_existing=True)).one()


def claim(session: Session, before: datetime) -> tuple[ProjectBudget, str] | None:
    """Claims a budget that was not counted since then: locked, with its project's name."""
    due = or_(ProjectBudget.counted_at.is_(None), ProjectBudget.counted_at < before)
    query = select(ProjectBudget, Project.name).join(Project, Project.id == ProjectBudget.project_id).where(due)
    row = session.execute(query.limit(1).with_for_update(skip_locked=True, of=ProjectBudget)).one_or_none()
    return None if row is None else (row[0], row[1])
