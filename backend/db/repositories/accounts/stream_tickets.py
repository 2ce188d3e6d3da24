"""Tickets of streams."""

from sqlalchemy import CursorResult, Row, delete, func
from sqlalchemy.orm import Session

from backend.db.models import StreamTicket


def take(session: Session, token_hash: str, path: str) -> Row[str, str, str] | None:
    """Deletes a ticket for a path that is in force: its credential, the hash of that, and its project."""
    query = delete(StreamTicket).where(
        StreamTicket.token_hash == token_hash, StreamTicket.path == path, StreamTicket.expires_at > func.now()
    )
    columns = StreamTicket.credential, StreamTicket.credential_hash, StreamTicket.project
    return session.execute(query.returning(*columns)).one_or_none()


def clean(session: Session) -> int:
    """Deletes expired tickets; returns how many."""
    result = session.execute(delete(StreamTicket).where(StreamTicket.expires_at <= func.now()))
    return result.rowcount if isinstance(result, CursorResult) else 0
