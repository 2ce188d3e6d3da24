"""People, their sessions and memberships."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import (
    Connection,
    Interval,
    Row,
    Select,
    Text,
    bindparam,
    delete,
    func,
    or_,
    select,
    text,
    true,
    type_coerce,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from backend.db.models import Membership, Project, UserAccount, UserSession

_FIRST_USER = 7_345_001
"""Key of the advisory lock under which the first person is created."""


def lock_first_user(session: Session) -> None:
    """Waits until no other process creates the first person; until the end of the transaction."""
    session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _FIRST_USER})


def now(session: Session) -> datetime:
    """The database's time."""
    moment: datetime = session.execute(select(func.clock_timestamp())).scalar_one()
    return moment


def by_name(session: Session, name: str, *, lock: bool = False) -> UserAccount | None:
    """The person of that name."""
    query = select(UserAccount).where(UserAccount.name == name)
    return session.scalar(query.with_for_update() if lock else query)


def by_link(session: Session, link_hash: str, *, lock: bool = False) -> UserAccount | None:
    """The person for whom a one-time link was created."""
    query = select(UserAccount).where(UserAccount.link_hash == link_hash)
    return session.scalar(query.with_for_update() if lock else query)


def listing(session: Session) -> list[UserAccount]:
    """All people by name."""
    return list(session.scalars(select(UserAccount).order_by(UserAccount.name)))


def memberships(session: Session) -> Sequence[Row[UUID, str, str]]:
    """User, project's name and role of every membership."""
    return session.execute(
        select(Membership.user_id, Project.name, Membership.role).join(Project, Project.id == Membership.project_id)
    ).all()


def _preferred_project(user_id: Any, name: Any, every: Any) -> Select[UUID, str, str]:
    """Id, name and the person's role of one of their projects.

    The one of that name, else `default`, else the first by name; `every`: of all projects.
    """
    query = select(Project.id, Project.name, Membership.role).outerjoin(
        Membership, (Membership.project_id == Project.id) & (Membership.user_id == user_id)
    )
    order = (Project.name == name).desc(), (Project.name == "default").desc(), Project.name
    return query.where(or_(every, Membership.role.is_not(None))).order_by(*order).limit(1)


_NUMBER = select(func.count()).select_from(Project).scalar_subquery()
_NAME, _TOKEN = bindparam("name", type_=Text), bindparam("token_hash", type_=Text)
_PROJECT = _preferred_project(UserAccount.id, _NAME, UserAccount.admin).lateral("own")
_ANY_PROJECT = select(_preferred_project(None, _NAME, true()).subquery("own"), _NUMBER)
_OPEN_SESSION = (
    select(
        UserSession.id,
        UserAccount.id,
        UserAccount.name,
        UserAccount.admin,
        type_coerce(func.now() - UserSession.used_at, Interval),
        *_PROJECT.c,
        _NUMBER,
    )
    .join(UserAccount, UserAccount.id == UserSession.user_id)
    .outerjoin(_PROJECT, true())
    .where(UserSession.token_hash == _TOKEN, UserSession.expires_at > func.now(), UserAccount.disabled_at.is_(None))
)


@dataclass(frozen=True)
class ProjectRow:
    """A project that a request is about, and the number of all projects; `id` is None if the person has no project."""

    id: UUID | None
    name: str | None
    role: str | None
    number: int


@dataclass(frozen=True)
class OpenSession:
    """A session in force, with its person, how long it was not used, and one of the person's projects."""

    id: UUID
    user_id: UUID
    user: str
    admin: bool
    idle: timedelta
    project: ProjectRow


def open_session(connection: Connection, token_hash: str, project: str) -> OpenSession | None:
    """The session of a cookie if it is in force, in one statement.

    Its project is the one of that name, else `default`, else the person's first by name.
    """
    row = connection.execute(_OPEN_SESSION, {"token_hash": token_hash, "name": project}).one_or_none()
    if row is None:
        return None
    session_id, user_id, user, admin, idle, *project_row = row
    return OpenSession(session_id, user_id, user, admin, idle, ProjectRow(*project_row))


def any_project(connection: Connection, name: str) -> ProjectRow | None:
    """The project of that name, else `default`, else the first by name."""
    row = connection.execute(_ANY_PROJECT, {"name": name}).one_or_none()
    return None if row is None else ProjectRow(*row)


def projects_of(session: Session, user_id: UUID) -> list[str]:
    """Names of the projects in which a person has a role."""
    query = select(Project.name).join(Membership, Membership.project_id == Project.id)
    return list(session.scalars(query.where(Membership.user_id == user_id).order_by(Project.name)))


def set_role(session: Session, user_id: UUID, project_id: UUID, role: str | None) -> None:
    """Sets or removes a person's role in a project."""
    if role is None:
        session.execute(delete(Membership).where(Membership.user_id == user_id, Membership.project_id == project_id))
        return
    row = {"user_id": user_id, "project_id": project_id, "role": role}
    session.execute(
        insert(Membership).values(row).on_conflict_do_update(constraint="pk_membership", set_={"role": role})
    )


def sessions_of(session: Session, user_id: UUID) -> list[UserSession]:
    """A person's sessions that have not expired, the most recently used first."""
    query = select(UserSession).where(UserSession.user_id == user_id, UserSession.expires_at > func.now())
    return list(session.scalars(query.order_by(UserSession.used_at.desc())))


def mark_used(session: Session, session_id: UUID) -> None:
    """Notes that a session is used."""
    session.execute(update(UserSession).where(UserSession.id == session_id).values(used_at=func.now()))


def end_sessions(session: Session, user_id: UUID, *, only: UUID | None = None) -> int:
    """Ends a person's sessions, or only one of them, and removes those that have expired. Returns how many ended."""
    session.execute(delete(UserSession).where(UserSession.expires_at <= func.now()))
    query = delete(UserSession).where(UserSession.user_id == user_id)
    result = session.execute(query if only is None else query.where(UserSession.id == only))
    return int(getattr(result, "rowcount", 0))
