"""Agent configurations."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models import AgentConfiguration, Benchmark, Quarantine, Rollup, Run, Task, TaskSet
from backend.db.models.enums import RANKED_PURPOSES, Dimension
from backend.db.repositories.common_queries import AnyRow, contains_words
from backend.db.repositories.pagination import Columns, CursorPage, sorted_page
from backend.domain.model.sort_order import SortOrder

_RUNS = (
    select(func.count(Run.id).label("runs"), func.max(Run.created_at).label("newest"))
    .where(Run.agent_configuration_id == AgentConfiguration.id)
    .correlate(AgentConfiguration)
    .lateral("runs")
)
ORDER: Columns = {
    "configuration": func.lower(AgentConfiguration.title),
    "agent": AgentConfiguration.name,
    "runs": _RUNS.c.runs,
    "newest-run": _RUNS.c.newest,
}
"""Columns by which a list of configurations can be sorted."""


def by_identity(session: Session, project_id: UUID, name: str, identity_hash: str) -> AgentConfiguration | None:
    """The configuration of this agent with this identity."""
    query = select(AgentConfiguration).where(
        AgentConfiguration.project_id == project_id,
        AgentConfiguration.name == name,
        AgentConfiguration.identity_hash == identity_hash,
    )
    return session.scalar(query)


def create(session: Session, values: Mapping[str, Any]) -> AgentConfiguration:
    """A new configuration; of concurrent callers with the same identity, all get the same one."""
    session.execute(insert(AgentConfiguration).values({"id": uuid7(), **_columns(values)}).on_conflict_do_nothing())
    row = by_identity(session, values["project_id"], values["name"], values["identity_hash"])
    assert row is not None  # noqa: S101 - just inserted, by us or by somebody else
    return row


def _columns(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by the names of their columns."""
    columns = AgentConfiguration.__mapper__.columns
    return {columns[name].name: value for name, value in values.items()}


def has_title(session: Session, project_id: UUID, title: str, besides: UUID | None = None) -> bool:
    """Whether another configuration of the project is shown under this name."""
    query = select(AgentConfiguration.id).where(
        AgentConfiguration.project_id == project_id, AgentConfiguration.title == title
    )
    if besides is not None:
        query = query.where(AgentConfiguration.id != besides)
    return bool(session.scalar(select(query.exists())))


def get(session: Session, configuration_id: UUID, *, lock: bool = False) -> AgentConfiguration | None:
    """The configuration, locked until the commit if asked for."""
    return session.get(AgentConfiguration, configuration_id, with_for_update={"key_share": True} if lock else None)


def listing(  # noqa: PLR0913 - whose, which, in which order, from where on
    session: Session,
    project_id: UUID,
    words: str,
    *,
    cursor: str | None,
    limit: int,
    order: SortOrder | None = None,
) -> CursorPage[AnyRow]:
    """(AgentConfiguration, runs, time of the newest run), newest configurations first, or in another order.

    Args:
        session: the transaction.
        project_id: only configurations of this project.
        words: part of a name, agent or model; empty = any.
        cursor: of the page before.
        limit: rows at most.
        order: another order, and which page of it.
    """
    query = select(AgentConfiguration, _RUNS.c.runs, _RUNS.c.newest).join(_RUNS, AgentConfiguration.id.is_not(None))
    query = query.where(AgentConfiguration.project_id == project_id)
    if words:
        columns = (AgentConfiguration.title, AgentConfiguration.name, AgentConfiguration.params["model"].astext)
        query = query.where(contains_words(words, *columns))
    return sorted_page(session, query, AgentConfiguration.id, ORDER, order=order, cursor=cursor, limit=limit)


def run_counts(session: Session, configuration_id: UUID) -> AnyRow:
    """(runs, time of the newest run)."""
    query = select(func.count(Run.id).label("runs"), func.max(Run.created_at).label("newest"))
    return session.execute(query.where(Run.agent_configuration_id == configuration_id)).one()


def results(session: Session, configuration_id: UUID, limit: int) -> Sequence[AnyRow]:
    """Newest measured runs with a score: (Run, configuration, Rollup of all tasks, benchmark, version, all_tasks).

    `all_tasks`: number of tasks of the version that are not in quarantine.
    """
    return _results(session, AgentConfiguration.id == configuration_id, limit)


def results_of_agent(session: Session, project_id: UUID, agent: str, limit: int) -> Sequence[AnyRow]:
    """As `results`, for all configurations of an agent."""
    of_agent = (AgentConfiguration.project_id == project_id) & (AgentConfiguration.name == agent)
    return _results(session, of_agent, limit)


def _results(session: Session, which: ColumnElement[bool], limit: int) -> Sequence[AnyRow]:
    in_force = select(func.count(Quarantine.id)).join(Task).where(Quarantine.lifted_at.is_(None))
    aside = in_force.where(Task.task_set_id == TaskSet.id).scalar_subquery()
    query = (
        select(
            Run,
            AgentConfiguration.title.label("configuration"),
            Rollup,
            Benchmark.name.label("benchmark"),
            TaskSet.version,
            (TaskSet.counts["tasks"].as_integer() - aside).label("all_tasks"),
        )
        .join(AgentConfiguration, AgentConfiguration.id == Run.agent_configuration_id)
        .join(Rollup, (Rollup.run_id == Run.id) & (Rollup.dimension == Dimension.ALL.value))
        .join(TaskSet, TaskSet.id == Run.task_set_id)
        .join(Benchmark, Benchmark.id == TaskSet.benchmark_id)
        .where(
            which,
            Run.purpose.in_(RANKED_PURPOSES),
            Run.study_id.is_(None),
            Rollup.scored > 0,
        )
        .order_by(Run.id.desc())
        .limit(limit)
    )
    return session.execute(query).all()
