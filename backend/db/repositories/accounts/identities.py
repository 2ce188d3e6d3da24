"""Identities of people at OpenID providers."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from backend.db.models import Membership, Project, UserAccount, UserIdentity


def user_of(session: Session, issuer: str, subject: str) -> UserAccount | None:
    """The account of an issuer's subject, locked."""
    query = select(UserAccount).join(UserIdentity, UserIdentity.user_id == UserAccount.id)
    query = query.where(UserIdentity.issuer == issuer, UserIdentity.subject == subject)
    return session.scalar(query.with_for_update(of=UserAccount))


def has_other(session: Session, user_id: UUID, issuer: str) -> bool:
    """Whether an account is some subject's of the issuer already."""
    query = select(UserIdentity.id).where(UserIdentity.user_id == user_id, UserIdentity.issuer == issuer)
    return session.scalar(query.limit(1)) is not None


def mark_used(session: Session, issuer: str, subject: str) -> None:
    """Notes a sign-in."""
    where = (UserIdentity.issuer == issuer, UserIdentity.subject == subject)
    session.execute(update(UserIdentity).where(*where).values(used_at=func.now()))


def projects(session: Session, names: Sequence[str], user_id: UUID) -> dict[str, tuple[UUID, str | None]]:
    """Id, and the person's role, of those of the named projects that exist."""
    query = select(Project.name, Project.id, Membership.role).outerjoin(
        Membership, (Membership.project_id == Project.id) & (Membership.user_id == user_id)
    )
    return {row[0]: (row[1], row[2]) for row in session.execute(query.where(Project.name.in_(names)))}
