"""Pages of lists, from a cursor or, in another order, by number.

The cursor is the last row's id, so every page costs the same. In the order of another column the rows before a page are
sorted, too: only lists are sorted whose rows are few or indexed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import UUID

from sqlalchemy import ColumnElement, Select
from sqlalchemy.orm import InstrumentedAttribute, Session

from backend.domain.errors import Invalid
from backend.domain.model.sort_order import SortOrder

T = TypeVar("T")
MOST = 500


Columns = Mapping[str, ColumnElement[Any] | InstrumentedAttribute[Any]]
"""By what a list can be sorted."""


def in_order(
    query: Select[Any], columns: Columns, order: SortOrder, key: InstrumentedAttribute[UUID], size: int
) -> Select[Any]:
    """One page of `query` and the first row of the next one; rows without a value are last.

    Args:
        query: selects the rows.
        columns: by what they can be sorted; `order.column` is among them.
        order: the order, and the page.
        key: decides between equal ones.
        size: rows of a page.
    """
    column = columns[order.column]
    by = (column.desc() if order.descending else column.asc()).nulls_last()
    return query.order_by(by, key).offset((order.page - 1) * size).limit(size + 1)


@dataclass(frozen=True)
class CursorPage(Generic[T]):
    """A page of a list; `next` is the cursor of the next page, None at the end."""

    items: list[T]
    next: str | None


def decode(cursor: str) -> UUID:
    """The id in a cursor. Raises Invalid."""
    try:
        return UUID(hex=cursor)
    except ValueError as error:
        raise Invalid(
            f"{cursor[:80]!r} is not a cursor",
            code="invalid_cursor",
            path="cursor",
            hint="Use `next` of the previous page.",
        ) from error


def page(  # noqa: PLR0913 - one keyword per thing to ask by
    session: Session,
    query: Select[Any],
    key: InstrumentedAttribute[UUID],
    *,
    cursor: str | None,
    limit: int,
    newest_first: bool = False,
) -> CursorPage[Any]:
    """One page of `query`, ordered by `key` (a UUIDv7 id: the order of creation).

    Args:
        session: the transaction.
        query: selects one entity or column that has an `id` attribute, or rows whose first column has one.
        key: the id column.
        cursor: from the previous page, None for the first.
        limit: maximum rows; at most 500.
        newest_first: descending.
    """
    size = max(1, min(limit, MOST))
    if cursor:
        last = decode(cursor)
        query = query.where(key < last if newest_first else key > last)
    rows = list(session.execute(query.order_by(key.desc() if newest_first else key).limit(size + 1)))
    items = [row[0] if len(row) == 1 else row for row in rows[:size]]
    return CursorPage(items=items, next=rows[size - 1][0].id.hex if len(rows) > size else None)


def sorted_page(  # noqa: PLR0913 - one keyword per thing to ask by
    session: Session,
    query: Select[Any],
    key: InstrumentedAttribute[UUID],
    columns: Columns,
    *,
    order: SortOrder | None,
    cursor: str | None,
    limit: int,
) -> CursorPage[Any]:
    """One page of `query`, newest first, or in another order.

    Args:
        session: the transaction.
        query: as of `page`.
        key: the id column.
        columns: by what the rows can be sorted.
        order: another order, and which page of it; then `next` says only whether another page follows.
        cursor: from the previous page; without `order` only.
        limit: maximum rows; at most 500.
    """
    if order is None:
        return page(session, query, key, cursor=cursor, limit=limit, newest_first=True)
    size = max(1, min(limit, MOST))
    rows = list(session.execute(in_order(query, columns, order, key, size)))
    items = [row[0] if len(row) == 1 else row for row in rows[:size]]
    return CursorPage(items=items, next=rows[size - 1][0].id.hex if len(rows) > size else None)
