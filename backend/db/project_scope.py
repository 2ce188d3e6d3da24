"""Which rows a request sees: those of its project. One rule per table, added to every statement of the ORM.

Queries need not think of it, and cannot forget it: within `visible_project` every SELECT, UPDATE and DELETE, with its
subqueries, has the rules of the tables that it names. Workers and commands work without a project and see everything.
Rules of tables below others name those above, whose rules apply in turn.

While workers remove what was deleted, the same rules hide it from requests (`hide_marked`).
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

from sqlalchemy import Engine, Table, event, select, text
from sqlalchemy.orm import ORMExecuteState, Session, with_loader_criteria
from sqlalchemy.sql import visitors

from backend.db import models

OWNED: tuple[Any, ...] = (
    models.AccessToken,
    models.AgentConfiguration,
    models.Benchmark,
    models.Deletion,
    models.DemonstrationSet,
    models.IdempotentRequest,
    models.Judge,
    models.Notification,
    models.OfflineStudy,
    models.ProjectBudget,
    models.Retention,
    models.Run,
    models.Study,
    models.Subscription,
    models.TaskDraft,
    models.TaskDraftRequest,
    models.TrustRule,
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
    (models.EpisodeComment, models.Episode, lambda cls: cls.episode_id.in_(select(models.Episode.id))),
    (models.FailureReview, models.Episode, lambda cls: cls.episode_id.in_(select(models.Episode.id))),
    (models.ReviewItem, models.Attempt, lambda cls: cls.attempt_id.in_(select(models.Attempt.id))),
    (models.JudgeVerdict, models.Judge, lambda cls: cls.judge_id.in_(select(models.Judge.id))),
    (models.JudgeResponse, models.Judge, lambda cls: cls.judge_id.in_(select(models.Judge.id))),
    (
        models.DemonstrationRecord,
        models.DemonstrationSet,
        lambda cls: cls.set_id.in_(select(models.DemonstrationSet.id)),
    ),
    (models.Delivery, models.Subscription, lambda cls: cls.subscription_id.in_(select(models.Subscription.id))),
    (models.OfflineCell, models.OfflineStudy, lambda cls: cls.study_id.in_(select(models.OfflineStudy.id))),
    (models.OfflineAnswer, models.OfflineCell, lambda cls: cls.cell_id.in_(select(models.OfflineCell.id))),
)
"""Tables whose rows belong to a row of another one, and how: a function of the table or its alias.

Each has code of its own, by which SQLAlchemy caches it.
"""
MARKED_SECONDS = 1.0
"""For so long a process believes that another one has not marked anything."""
_HIDES = "hides_marked"
_ANY_MARKED = text("SELECT EXISTS (SELECT FROM deletion WHERE finished_at IS NULL)")
_PROJECT: ContextVar[UUID | None] = ContextVar("project", default=None)
_MARKED: WeakKeyDictionary[Engine, tuple[float, bool]] = WeakKeyDictionary()


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


def hide_marked(session: Session) -> None:
    """Hides rows that are being deleted from this session, if there are any."""
    engine = session.get_bind().engine
    moment, marked = _MARKED.get(engine, (float("-inf"), False))
    if time.monotonic() - moment > MARKED_SECONDS:
        marked = bool(session.scalar(_ANY_MARKED))
        _MARKED[engine] = time.monotonic(), marked
    session.info[_HIDES] = marked


def note_marked(session: Session) -> None:
    """Rows were just marked: this process hides them from its next session on."""
    _MARKED[session.get_bind().engine] = time.monotonic(), True


_ABOVE: dict[Table, tuple[Any, Any, Callable[[Any], Any]]] = {row[0].__table__: row for row in BELOW}
_OWNED: dict[Table, Any] = {table.__table__: table for table in OWNED}


@lru_cache(maxsize=2000)
def _rule(table: Table, project_id: UUID | None, hides: bool) -> Any:  # noqa: FBT001 - both make one key
    """The rule of one table; None if everybody sees its rows."""
    if table in _OWNED:
        return _own_rule(_OWNED[table], project_id, hides=hides and "deleted_at" in table.c)
    if table not in _ABOVE:
        return None
    entity, _, rule = _ABOVE[table]
    return with_loader_criteria(entity, rule, include_aliases=True, track_closure_variables=False)


def _own_rule(entity: Any, project_id: UUID | None, *, hides: bool) -> Any:
    if project_id is None:
        return (
            with_loader_criteria(entity, lambda cls: cls.deleted_at.is_(None), include_aliases=True) if hides else None
        )
    if not hides:
        return with_loader_criteria(entity, lambda cls: cls.project_id == project_id, include_aliases=True)
    return with_loader_criteria(
        entity, lambda cls: (cls.project_id == project_id) & cls.deleted_at.is_(None), include_aliases=True
    )


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
    project_id, hides = _PROJECT.get(), bool(state.session.info.get(_HIDES))
    reads_or_changes = state.is_select or state.is_update or state.is_delete
    narrowed = project_id is not None or hides
    if narrowed and reads_or_changes and not state.is_column_load and not state.is_relationship_load:
        tables = sorted(_tables(state.statement), key=lambda table: table.name)
        rules = [rule for table in tables if (rule := _rule(table, project_id, hides)) is not None]
        if rules:
            state.statement = state.statement.options(*rules)
