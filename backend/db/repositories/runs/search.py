"""Queries of the search over everything: newest first, a few of each kind."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session, aliased

from backend.db.models import AgentConfiguration, Benchmark, Episode, Run, Task, TaskSet
from backend.db.repositories.common_queries import AnyRow, contains_words


def runs(session: Session, words: str, limit: int) -> Sequence[AnyRow]:
    """(id, name, configuration, benchmark) of runs by name, configuration, model or benchmark."""
    model = AgentConfiguration.params["model"].astext
    query = (
        select(Run.id, Run.name, AgentConfiguration.title.label("configuration"), Benchmark.name.label("benchmark"))
        .join(AgentConfiguration, AgentConfiguration.id == Run.agent_configuration_id)
        .join(TaskSet, TaskSet.id == Run.task_set_id)
        .join(Benchmark, Benchmark.id == TaskSet.benchmark_id)
        .where(
            contains_words(words, Run.name, AgentConfiguration.title, AgentConfiguration.name, Benchmark.name, model)
        )
    )
    return session.execute(query.order_by(Run.id.desc()).limit(limit)).all()


def configurations(session: Session, words: str, limit: int) -> Sequence[AnyRow]:
    """(id, title, agent) of configurations by name, agent or model."""
    model = AgentConfiguration.params["model"].astext
    query = select(AgentConfiguration.id, AgentConfiguration.title, AgentConfiguration.name.label("agent"))
    query = query.where(contains_words(words, AgentConfiguration.title, AgentConfiguration.name, model))
    return session.execute(query.order_by(AgentConfiguration.id.desc()).limit(limit)).all()


def tasks(session: Session, words: str, limit: int) -> Sequence[AnyRow]:
    """(id, domain, name, instruction, benchmark) of the newest versions' tasks by name or instruction."""
    versions = aliased(TaskSet)
    newest = select(func.max(versions.version)).where(versions.benchmark_id == Benchmark.id).scalar_subquery()
    query = (
        select(Task.id, Task.domain, Task.name, Task.instruction, Benchmark.name.label("benchmark"))
        .join(TaskSet, TaskSet.id == Task.task_set_id)
        .join(Benchmark, Benchmark.id == TaskSet.benchmark_id)
        .where(TaskSet.version == newest, ~Benchmark.hidden)
        .where(contains_words(words, Task.domain + "/" + Task.name, Task.instruction))
    )
    return session.execute(query.order_by(Benchmark.name, Task.domain, Task.name).limit(limit)).all()


def episodes(session: Session, task_ids: Sequence[UUID], limit: int) -> Sequence[AnyRow]:
    """(id, domain, name, state, score, configuration) of the newest episodes of these tasks."""
    query = (
        select(Episode.id, Task.domain, Task.name, Episode.state, Episode.score)
        .add_columns(AgentConfiguration.title.label("configuration"))
        .join(Task, Task.id == Episode.task_id)
        .join(Run, Run.id == Episode.run_id)
        .join(AgentConfiguration, AgentConfiguration.id == Run.agent_configuration_id)
        .where(Episode.task_id.in_(task_ids))
    )
    return session.execute(query.order_by(Episode.id.desc()).limit(limit)).all()


def by_id(session: Session, row_id: UUID) -> list[str]:
    """Kinds of rows that have this id: `run`, `episode`, `task`, `configuration`."""
    tables = {"run": Run, "episode": Episode, "task": Task, "configuration": AgentConfiguration}
    return [kind for kind, table in tables.items() if session.get(table, row_id) is not None]
