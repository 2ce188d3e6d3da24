"""Projects and actors. In a read-only transaction a missing one is returned without being stored."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models import Actor, Project
from backend.db.session import only_reads


def get_or_make(session: Session, name: str) -> Project:
    """The project of that name, created if missing; concurrent callers get the same one."""
    project = by_name(session, name)
    if project is None and only_reads(session):
        return Project(id=uuid7(), name=name)
    if project is None:
        session.execute(insert(Project).values(id=uuid7(), name=name).on_conflict_do_nothing())
        project = session.scalars(select(Project).where(Project.name == name)).one()
    return project


def get(session: Session, project_id: UUID) -> Project | None:
    """The project of that id."""
    return session.get(Project, project_id)


def listing(session: Session) -> list[Project]:
    """All projects by name."""
    return list(session.scalars(select(Project).order_by(Project.name)))


def by_name(session: Session, name: str) -> Project | None:
    """The project of that name."""
    return session.scalar(select(Project).where(Project.name == name))


def actor(session: Session, project_id: UUID, name: str, kind: str) -> Actor:
    """The project's actor of that name, created if missing; concurrent callers get the same one."""
    query = select(Actor).where(Actor.project_id == project_id, Actor.name == name)
    actor = session.scalar(query)
    row = {"id": uuid7(), "project_id": project_id, "name": name, "kind": kind}
    if actor is None and only_reads(session):
        return Actor(**row)
    if actor is None:
        session.execute(insert(Actor).values(row).on_conflict_do_nothing())
        actor = session.scalars(query).one()
    return actor
