"""People, their sessions and memberships."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import Interval, Row, delete, func, select, text, type_coerce, update
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


def first_project(
    session: Session, user_id: UUID | None, name: str, *, every: bool
) -> tuple[UUID, str, str | None, int] | None:
    """Id, name and the person's role of one of their projects, and the number of all projects.

    The one of that name, else `default`, else the first by name; `every`: of all projects.
    """
    number = select(func.count()).select_from(Project).scalar_subquery()
    query = select(Project.id, Project.name, Membership.role, number).outerjoin(
        Membership, (Membership.project_id == Project.id) & (Membership.user_id == user_id)
    )
    query = query if every else query.where(Membership.role.is_not(None))
    preferred = (Project.name == name).desc(), (Project.name == "default").desc(), Project.name
    row = session.execute(query.order_by(*preferred).limit(1)).one_or_none()
    return None if row is None else (row[0], row[1], row[2], row[3])


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


def open_session(session: Session, token_hash: str) -> tuple[UserSession, UserAccount, timedelta] | None:
    """A cookie's session if it has not expired, its person, and how long it was not used."""
    query = (
        select(UserSession, UserAccount, type_coerce(func.now() - UserSession.used_at, Interval))
        .join(UserAccount, UserAccount.id == UserSession.user_id)
        .where(
            UserSession.token_hash == token_hash,
            UserSession.expires_at > func.now(),
            UserAccount.disabled_at.is_(None),
        )
    )
    row = session.execute(query).one_or_none()
    return None if row is None else (row[0], row[1], row[2])


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
