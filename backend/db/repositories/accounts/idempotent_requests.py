"""Requests with an idempotency key."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import ColumnElement, and_, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models import IdempotentRequest

_CLEANED = 100
_UNIQUE = ("project_id", "caller", "key")
_UNSYNCHRONISED: dict[str, Any] = {"execution_options": {"synchronize_session": False}}


def find(session: Session, project_id: UUID, caller: str, key: str, lease: timedelta) -> IdempotentRequest | None:
    """The request of that key, unless it has expired or its claim was not renewed for `lease`."""
    return session.scalar(
        select(IdempotentRequest)
        .where(
            IdempotentRequest.project_id == project_id,
            IdempotentRequest.caller == caller,
            IdempotentRequest.key == key,
            IdempotentRequest.expires_at > func.now(),
            or_(IdempotentRequest.status.is_not(None), IdempotentRequest.renewed_at >= func.now() - lease),
        )
        .execution_options(populate_existing=True)
    )


def claim(session: Session, values: Mapping[str, Any], *, keep: timedelta, lease: timedelta) -> UUID | None:
    """Inserts a request, or takes over one that has expired or whose claim was not renewed.

    Args:
        session: the transaction.
        values: project_id, caller, key, fingerprint.
        keep: how long the key is known.
        lease: age of a renewal at which a claim may be taken over.

    Returns:
        The claim; None if another one holds.
    """
    fresh = {**values, "claim": uuid4(), "renewed_at": func.now(), "status": None, "headers": {}, "body": None}
    fresh |= {"expires_at": func.now() + keep, "created_at": func.now()}
    over = or_(
        IdempotentRequest.expires_at <= func.now(),
        and_(IdempotentRequest.status.is_(None), IdempotentRequest.renewed_at < func.now() - lease),
    )
    statement = insert(IdempotentRequest).values(id=uuid7(), **fresh)
    taking = statement.on_conflict_do_update(index_elements=_UNIQUE, set_=fresh, where=over)
    return session.scalar(taking.returning(IdempotentRequest.claim))


def renew(session: Session, claim_id: UUID) -> None:
    """Notes that a claim is still worked on."""
    session.execute(update(IdempotentRequest).where(*_open(claim_id)).values(renewed_at=func.now()), **_UNSYNCHRONISED)


def store(session: Session, claim_id: UUID, status: int, headers: Mapping[str, str], body: bytes) -> bool:
    """Stores the answer; False if the claim was taken over."""
    values = {"status": status, "headers": dict(headers), "body": body}
    statement = update(IdempotentRequest).where(*_open(claim_id)).values(**values).returning(IdempotentRequest.id)
    return session.execute(statement, **_UNSYNCHRONISED).scalar() is not None


def release(session: Session, claim_id: UUID) -> None:
    """Forgets a request whose work was not done."""
    session.execute(delete(IdempotentRequest).where(*_open(claim_id)), **_UNSYNCHRONISED)


def clean(session: Session) -> None:
    """Deletes some expired requests."""
    expired = select(IdempotentRequest.id).where(IdempotentRequest.expires_at <= func.now()).limit(_CLEANED)
    batch = expired.with_for_update(skip_locked=True)
    session.execute(delete(IdempotentRequest).where(IdempotentRequest.id.in_(batch)), **_UNSYNCHRONISED)


def _open(claim_id: UUID) -> tuple[ColumnElement[bool], ...]:
    return IdempotentRequest.claim == claim_id, IdempotentRequest.status.is_(None)
