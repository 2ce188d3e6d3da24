"""Changes of a statement to one row or many: values before and after, for the audit log."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Column, Table, TextClause, select, tuple_
from sqlalchemy.dialects.postgresql.dml import OnConflictDoUpdate
from sqlalchemy.orm import ORMExecuteState, Session

from backend.services.read_model import short

SECRET = ("hash", "sha256", "key", "token", "secret")
"""Ends of names of columns that are never shown."""
MOST_ROWS = 20
"""Rows whose values are shown."""


def brief(value: Any) -> Any:
    """A value as the log shows it."""
    return value if isinstance(value, bool | int | float | None) else short(str(value))


class StatementRows:
    """The rows that an UPDATE, a DELETE or an INSERT that updates is about to change.

    One statement reads them before and one after it, at most `MOST_ROWS`.
    """

    def __init__(self, session: Session, state: ORMExecuteState) -> None:
        """Reads the rows. Must run before the statement."""
        statement: Any = state.statement
        self._session, self._deletes = session, state.is_delete
        self._table: Table = statement.table
        self._keys: list[Column[Any]] = list(self._table.primary_key.columns)
        listed = state.parameters if isinstance(state.parameters, list) else []
        where, names = statement._where_criteria if not state.is_insert else (), set[str]()  # noqa: SLF001 - see below
        if state.is_update:
            # SQLAlchemy tells nowhere else what an UPDATE sets.
            names = {_name(column) for column in statement._values or {}}  # noqa: SLF001
            names |= {name for row in listed for name in row}
        if state.is_insert:
            clause: OnConflictDoUpdate = statement._post_values_clause  # noqa: SLF001 - as above
            names = {_name(column) for column in clause.update_values_to_set}
            self._keys = _target(self._table, clause)
            listed = _inserted_rows(statement)
        if listed:
            where = (
                tuple_(*self._keys).in_([tuple(row.get(key.key) for key in self._keys) for row in listed[:MOST_ROWS]]),
            )
        self._columns = [column for column in self._table.columns if column.key in names and _is_shown(column)]
        query = select(*self._keys, *self._columns).select_from(self._table).where(*where).limit(MOST_ROWS)
        self._before = self._read(query, None if listed else state.parameters)

    def changes(self) -> Iterator[tuple[str, list[Any]]]:
        """Name with the row it is of, if there are several, and the values before and after."""
        if not self._before:
            return
        own = tuple_(*self._keys).in_(list(self._before))
        after = self._read(select(*self._keys, *self._columns).select_from(self._table).where(own))
        for key, values in self._before.items():
            name = " ".join(map(str, key))
            row = "" if len(self._before) == 1 else f"[{name}]"
            if self._deletes and key not in after:
                yield f"{self._table.name}{row}.id", [name, None]
            for column, old, new in zip(self._columns, values, after.get(key, values), strict=True):
                if old != new:
                    yield f"{self._table.name}{row}.{column.key}", [brief(old), brief(new)]

    def _read(self, query: Any, parameters: Any = None) -> dict[Any, Sequence[Any]]:
        rows = self._session.connection().execute(query, parameters).all()
        return {tuple(row[: len(self._keys)]): row[len(self._keys) :] for row in rows}


def writes(state: ORMExecuteState) -> bool:
    """Whether a statement may write anything."""
    if isinstance(state.statement, TextClause):
        return not state.statement.text.lstrip().upper().startswith(("SELECT", "SET ", "LOCK "))
    return not state.is_select


def is_change(state: ORMExecuteState) -> bool:
    """Whether a statement changes or deletes rows that are there already."""
    upserts = isinstance(getattr(state.statement, "_post_values_clause", None), OnConflictDoUpdate)
    changes = (
        state.is_update or state.is_delete or (state.is_insert and upserts and bool(_inserted_rows(state.statement)))
    )
    return changes and isinstance(getattr(state.statement, "table", None), Table)


def _name(column: Any) -> str:
    return column if isinstance(column, str) else str(column.key)


def _is_shown(column: Column[Any]) -> bool:
    return not column.primary_key and not column.key.endswith(SECRET) and column.key != "updated_at"


def _target(table: Table, clause: OnConflictDoUpdate) -> list[Column[Any]]:
    """The columns by which an INSERT finds the row that is there already."""
    named = clause.inferred_target_elements
    if named is None:
        constraint = next(constraint for constraint in table.constraints if constraint.name == clause.constraint_target)
        return list(constraint.columns)  # type: ignore[attr-defined]
    return [table.columns[_name(column)] for column in named]


def _inserted_rows(statement: Any) -> list[dict[str, Any]]:
    """The rows that an INSERT gives as values; none if it selects them."""
    many = [row for rows in statement._multi_values for row in rows]  # noqa: SLF001 - told nowhere else
    rows = many or [statement._values or {}]  # noqa: SLF001
    return [{_name(column): getattr(value, "value", value) for column, value in row.items()} for row in rows if row]
