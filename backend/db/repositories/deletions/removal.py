"""Rows that hang on a row, and their removal in batches, children first. Derived from the tables' foreign keys.

A foreign key that may be empty counts only where a table has no other one into what is removed. Rows of a run's tables
are removed with their run; so a benchmark's come after those of its runs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any
from uuid import UUID

from sqlalchemy import Column, ColumnElement, ForeignKey, Select, Table, delete, or_, select, tuple_, update
from sqlalchemy.orm import Session

from backend.db import models
from backend.db.models import Base
from backend.db.models.enums import DeletionKind

ROOTS: Mapping[DeletionKind, Table] = MappingProxyType(
    {
        kind: Base.metadata.tables[model.__tablename__]
        for kind, model in {
            DeletionKind.RUN: models.Run,
            DeletionKind.STUDY: models.Study,
            DeletionKind.CONFIGURATION: models.AgentConfiguration,
            DeletionKind.DRAFT: models.TaskDraft,
            DeletionKind.TASK_SET: models.TaskSet,
            DeletionKind.BENCHMARK: models.Benchmark,
        }.items()
    }
)
CLEARED = frozenset({("task_draft", "published_task_set_id"), ("demonstration", "attempt_id")})
"""Columns that are emptied: their rows have all that they need without it."""


@dataclass(frozen=True)
class RemovalLink:
    """A foreign key by which rows of a table hang on what is removed; `cleared`: it is emptied, the row stays."""

    column: Column[Any]
    target: Column[Any]
    cleared: bool

    @property
    def table(self) -> Table:
        return self.column.table


@cache
def plan(kind: DeletionKind) -> tuple[RemovalLink, ...]:
    """All links below a row of that kind, children before their parents."""
    root, reached, links = ROOTS[kind], {ROOTS[kind]}, list[RemovalLink]()
    of_runs = frozenset[Table]() if kind is DeletionKind.RUN else _tables_of_runs()
    for table in Base.metadata.sorted_tables:
        if table is root or table in of_runs:
            continue
        own = [_link(key) for key in table.foreign_keys if key.column.table in reached]
        removing = [link for link in own if not link.cleared]
        removing = [link for link in removing if not link.column.nullable] or removing
        if removing:
            reached.add(table)
        links += [*(link for link in own if link.cleared), *removing]
    return tuple(reversed(links))


@cache
def _tables_of_runs() -> frozenset[Table]:
    """Tables each of whose rows belongs to a run."""
    tables = {ROOTS[DeletionKind.RUN]}
    for table in Base.metadata.sorted_tables:
        if any(not key.parent.nullable and key.column.table in tables for key in table.foreign_keys):
            tables.add(table)
    return frozenset(tables)


def _link(key: ForeignKey) -> RemovalLink:
    column: Column[Any] = key.parent
    return RemovalLink(column, key.column, (column.table.name, column.name) in CLEARED)


def remove_batch(session: Session, kind: DeletionKind, target_id: UUID, limit: int) -> tuple[str, int]:
    """Removes at most `limit` rows below a row, of one table; at last the row itself.

    Returns:
        The table and the number of rows; 0 when nothing is left.
    """
    root = ROOTS[kind]
    for link in plan(kind):
        number = _remove(session, link, _below(kind, link, target_id), limit)
        if number:
            return link.table.name, number
    own = session.execute(delete(root).where(root.c.id == target_id))
    return root.name, own.rowcount  # type: ignore[attr-defined] # a cursor's result


def _remove(session: Session, link: RemovalLink, rows: ColumnElement[bool], limit: int) -> int:
    if link.cleared:
        result = session.execute(update(link.table).where(rows).values({link.column: None}))
    else:
        key = [*link.table.primary_key.columns]
        some = select(*key).where(rows).limit(limit)
        result = session.execute(delete(link.table).where(tuple_(*key).in_(some)))
    return int(result.rowcount)  # type: ignore[attr-defined] # same


def _below(kind: DeletionKind, link: RemovalLink, target_id: UUID) -> ColumnElement[bool]:
    return link.column.in_(_values(kind, link.target, target_id))


def _values(kind: DeletionKind, column: Column[Any], target_id: UUID) -> Select[Any]:
    """Values of a column in the rows of its table that are removed."""
    table = column.table
    if table is ROOTS[kind]:
        return select(column).where(table.c.id == target_id)
    links = [link for link in plan(kind) if link.table is table and not link.cleared]
    return select(column).where(or_(*(_below(kind, link, target_id) for link in links)))
