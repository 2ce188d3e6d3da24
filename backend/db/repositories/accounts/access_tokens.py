"""Tokens of programs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import Connection, Interval, Text, bindparam, func, or_, select, type_coerce, update
from sqlalchemy.orm import Session

from backend.db.models import AccessToken, Membership, Project, UserAccount

_OPEN_TOKEN = (
    select(
        AccessToken.id,
        AccessToken.name,
        AccessToken.role,
        UserAccount.id,
        UserAccount.name,
        UserAccount.admin,
        Membership.role,
        type_coerce(func.now() - AccessToken.used_at, Interval),
        Project.id,
        Project.name,
        select(func.count()).select_from(Project.__table__.alias("every")).scalar_subquery(),
    )
    .join(Project, Project.id == AccessToken.project_id)
    .outerjoin(UserAccount, UserAccount.id == AccessToken.user_id)
    .outerjoin(
        Membership, (Membership.user_id == AccessToken.user_id) & (Membership.project_id == AccessToken.project_id)
    )
    .where(
        AccessToken.token_hash == bindparam("token_hash", type_=Text),
        AccessToken.revoked_at.is_(None),
        AccessToken.expires_at > func.now(),
        UserAccount.disabled_at.is_(None),
    )
)


@dataclass(frozen=True)
class OpenToken:
    """A token in force, its person if it has one, how long it was not used, and its project.

    Attributes:
        id: the token's.
        name: the token's.
        role: what it may do at most.
        user_id: its person, with `user`, `admin` and `own_role`, their role in the token's project.
        idle: how long it was not used; None: never.
        project_id: its project, with `project`, its name.
        projects: number of all projects.
    """

    id: UUID
    name: str
    role: str
    user_id: UUID | None
    user: str | None
    admin: bool | None
    own_role: str | None
    idle: timedelta | None
    project_id: UUID
    project: str
    projects: int


def open_token(connection: Connection, token_hash: str) -> OpenToken | None:
    """A token in force, read in one statement."""
    row = connection.execute(_OPEN_TOKEN, {"token_hash": token_hash}).one_or_none()
    return None if row is None else OpenToken(*row)


def listing(session: Session, user_id: UUID, project_id: UUID, *, with_projects: bool) -> Sequence[AccessToken]:
    """A person's tokens that are not revoked, and the project's if asked for; the newest first. Not those of jobs."""
    of_user = AccessToken.user_id == user_id
    project = (
        AccessToken.user_id.is_(None) & (AccessToken.project_id == project_id) & AccessToken.trust_rule_id.is_(None)
    )
    query = select(AccessToken).where(
        AccessToken.revoked_at.is_(None), or_(of_user, project) if with_projects else of_user
    )
    return session.scalars(query.order_by(AccessToken.id.desc())).all()


def lock(session: Session, token_id: UUID) -> AccessToken | None:
    """A token that is not revoked, locked."""
    query = select(AccessToken).where(AccessToken.id == token_id, AccessToken.revoked_at.is_(None))
    return session.scalar(query.with_for_update())


def mark_used(session: Session, token_id: UUID) -> None:
    """Notes that a token is used."""
    session.execute(update(AccessToken).where(AccessToken.id == token_id).values(used_at=func.now()))
