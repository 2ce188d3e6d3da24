"""The audit log."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.db.models import AuditEntry
from backend.db.repositories.common_queries import contains_words

MOST_SEARCHED = 100_000
"""Newest entries in which words are searched for: no index has them."""


def listing(
    session: Session, limit: int, cursor: UUID | None, *, words: str = "", oldest_first: bool = False
) -> list[AuditEntry]:
    """Entries beyond `cursor` (ids are ordered by time), the newest or the oldest first.

    Args:
        session: the transaction.
        limit: entries at most.
        cursor: the last entry of the page before.
        words: part of who, action, target or address.
        oldest_first: the order.
    """
    key = AuditEntry.id
    query = select(AuditEntry).order_by(key if oldest_first else key.desc()).limit(limit)
    if cursor is not None:
        query = query.where(key > cursor if oldest_first else key < cursor)
    if words:
        first = session.scalar(select(key).order_by(key.desc()).offset(MOST_SEARCHED).limit(1))
        columns = (AuditEntry.who, AuditEntry.action, AuditEntry.target, AuditEntry.address)
        query = query.where(contains_words(words, *columns))
        query = query if first is None else query.where(key > first)
    return list(session.scalars(query))
