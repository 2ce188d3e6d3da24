"""Tokens of programs."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from sqlalchemy import Interval, func, or_, select, type_coerce, update
from sqlalchemy.orm import Session

from backend.db.models import AccessToken, Membership, UserAccount


def open_token(
    session: Session, token_hash: str
) -> tuple[AccessToken, UserAccount | None, str | None, timedelta | None] | None:
    """A token in force, its person, their role in the token's project, and how long it was not used."""
    query = (
        select(AccessToken, UserAccount, Membership.role, type_coerce(func.now() - AccessToken.used_at, Interval))
        .outerjoin(UserAccount, UserAccount.id == AccessToken.user_id)
        .outerjoin(
            Membership,
            (Membership.user_id == AccessToken.user_id) & (Membership.project_id == AccessToken.project_id),
        )
        .where(
            AccessToken.token_hash == token_hash,
            AccessToken.revoked_at.is_(None),
            AccessToken.expires_at > func.now(),
            UserAccount.disabled_at.is_(None),
        )
    )
    row = session.execute(query).one_or_none()
    return None if row is None else (row[0], row[1], row[2], row[3])


def listing(session: Session, user_id: UUID, project_id: UUID, *, with_projects: bool) -> Sequence[AccessToken]:
    """A person's tokens that are not revoked, and the project's if asked for; the newest first."""
    mine = AccessToken.user_id == user_id
    project = AccessToken.user_id.is_(None) & (AccessToken.project_id == project_id)
    query = select(AccessToken).where(AccessToken.revoked_at.is_(None), or_(mine, project) if with_projects else mine)
    return session.scalars(query.order_by(AccessToken.id.desc())).all()


def lock(session: Session, token_id: UUID) -> AccessToken | None:
    """A token that is not revoked, locked."""
    query = select(AccessToken).where(AccessToken.id == token_id, AccessToken.revoked_at.is_(None))
    return session.scalar(query.with_for_update())


def mark_used(session: Session, token_id: UUID) -> None:
    """Notes that a token is used."""
    session.execute(update(AccessToken).where(AccessToken.id == token_id).values(used_at=func.now()))
