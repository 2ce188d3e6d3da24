"""Which rows a request sees: those of its project. One rule per table, added to every statement of the ORM.

Queries need not think of it, and cannot forget it: within `visible_project` every SELECT, UPDATE and DELETE, with its
subqueries, has the rules of the tables that it names. Workers and commands work without a project and see everything.
Rules of tables below others name those above, whose rules apply in turn.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any
from uuid import UUID

from sqlalchemy import Table, event, select
from sqlalchemy.orm import ORMExecuteState, Session, with_loader_criteria
from sqlalchemy.sql import visitors

from backend.db import models

OWNED: tuple[Any, ...] = (
    models.AccessToken,
    models.AgentConfiguration,
    models.Benchmark,
    models.DemonstrationSet,
    models.Judge,
    models.OfflineStudy,
    models.Run,
    models.Study,
    models.TaskDraft,
    models.TaskDraftRequest,
    models.WebAsset,
)
"""Tables with a project of their own."""
BELOW: tuple[tuple[Any, Any, Callable[[Any], Any]], ...] = (
    (models.TaskSet, models.Benchmark, lambda cls: cls.benchmark_id.in_(select(models.Benchmark.id))),
    (models.TaskLabel, models.Benchmark, lambda cls: cls.benchmark_id.in_(select(models.Benchmark.id))),
    (models.PublishedResult, models.Benchmark, lambda cls: cls.benchmark_id.in_(select(models.Benchmark.id))),
    (models.SavedView, models.Benchmark, lambda cls: cls.benchmark_id.in_(select(models.Benchmark.id))),
    (models.PublicLink, models.Benchmark, lambda cls: cls.benchmark_id.in_(select(models.Benchmark.id))),
    (models.StoredLabelPair, models.Benchmark, lambda cls: cls.benchmark_id.in_(select(models.Benchmark.id))),
    (models.Task, models.TaskSet, lambda cls: cls.task_set_id.in_(select(models.TaskSet.id))),
    (models.TaskSelection, models.TaskSet, lambda cls: cls.task_set_id.in_(select(models.TaskSet.id))),
    (models.PassRollup, models.TaskSet, lambda cls: cls.task_set_id.in_(select(models.TaskSet.id))),
    (models.Quarantine, models.Task, lambda cls: cls.task_id.in_(select(models.Task.id))),
    (models.Submission, models.Task, lambda cls: cls.task_id.in_(select(models.Task.id))),
    (models.PairwisePreference, models.Task, lambda cls: cls.task_id.in_(select(models.Task.id))),
    (models.Episode, models.Run, lambda cls: cls.run_id.in_(select(models.Run.id))),
    (models.Event, models.Run, lambda cls: cls.run_id.in_(select(models.Run.id))),
    (models.Rollup, models.Run, lambda cls: cls.run_id.in_(select(models.Run.id))),
    (models.MeasureRollup, models.Run, lambda cls: cls.run_id.in_(select(models.Run.id))),
    (models.Attempt, models.Episode, lambda cls: cls.episode_id.in_(select(models.Episode.id))),
    (models.FailureReview, models.Episode, lambda cls: cls.episode_id.in_(select(models.Episode.id))),
    (models.ReviewItem, models.Judge, lambda cls: cls.judge_id.in_(select(models.Judge.id))),
    (models.JudgeVerdict, models.Judge, lambda cls: cls.judge_id.in_(select(models.Judge.id))),
    (models.JudgeResponse, models.Judge, lambda cls: cls.judge_id.in_(select(models.Judge.id))),
    (
        models.DemonstrationRecord,
        models.DemonstrationSet,
        lambda cls: cls.set_id.in_(select(models.DemonstrationSet.id)),
    ),
    (models.OfflineCell, models.OfflineStudy, lambda cls: cls.study_id.in_(select(models.OfflineStudy.id))),
    (models.OfflineAnswer, models.OfflineCell, lambda cls: cls.cell_id.in_(select(models.OfflineCell.id))),
)
"""Tables whose rows belong to a row of another one, and how: a function of the table or its alias.

Each has code of its own, by which SQLAlchemy caches it.
"""
_PROJECT: ContextVar[UUID | None] = ContextVar("project", default=None)


def current_project() -> UUID | None:
    """The project whose rows are visible; None: all."""
    return _PROJECT.get()


def narrow_to(project_id: UUID) -> None:
    """From now on, in this task or thread, only this project's rows are visible."""
    _PROJECT.set(project_id)


@contextmanager
def visible_project(project_id: UUID | None) -> Iterator[None]:
    """Within it, and in tasks and threads that start in it, only this project's rows are visible; None: all."""
    token = _PROJECT.set(project_id)
    try:
        yield
    finally:
        _PROJECT.reset(token)


_ABOVE: dict[Table, tuple[Any, Any, Callable[[Any], Any]]] = {row[0].__table__: row for row in BELOW}
_OWNED: dict[Table, Any] = {table.__table__: table for table in OWNED}


@lru_cache(maxsize=2000)
def _rule(table: Table, project_id: UUID) -> Any:
    """The rule of one table; None if everybody sees its rows."""
    if table in _OWNED:
        return with_loader_criteria(_OWNED[table], lambda cls: cls.project_id == project_id, include_aliases=True)
    if table not in _ABOVE:
        return None
    entity, _, rule = _ABOVE[table]
    return with_loader_criteria(entity, rule, include_aliases=True, track_closure_variables=False)


def _tables(statement: Any) -> set[Table]:
    """The tables that a statement names, and those above them, which their rules name."""
    tables = {
        element
        for element in visitors.iterate(statement, {"column_tables": True})
        if isinstance(element, Table) and (element in _OWNED or element in _ABOVE)
    }
    return tables | {above for table in tables for above in _chain(table)}


@lru_cache(maxsize=100)
def _chain(table: Table) -> tuple[Table, ...]:
    above: list[Table] = []
    while table in _ABOVE:
        table = _ABOVE[table][1].__table__
        above.append(table)
    return tuple(above)


@event.listens_for(Session, "do_orm_execute")
def _add_rules(state: ORMExecuteState) -> None:
    project_id = _PROJECT.get()
    reads_or_changes = state.is_select or state.is_update or state.is_delete
    if project_id is not None and reads_or_changes and not state.is_column_load and not state.is_relationship_load:
        rules = [_rule(table, project_id) for table in sorted(_tables(state.statement), key=lambda table: table.name)]
        if rules:
            state.statement = state.statement.options(*rules)
