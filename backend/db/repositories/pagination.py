"""Keyset pagination: the cursor is the last row's id, so every page costs the same."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import UUID

from sqlalchemy import Select
from sqlalchemy.orm import InstrumentedAttribute, Session

from backend.domain.errors import Invalid

T = TypeVar("T")
MOST = 500


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
