"""Who acts, and for which project. There is one project until somebody needs a second."""

from sqlalchemy.orm import Session

from backend.db.models import Actor, Project
from backend.db.models.words import ActorKind
from backend.db.repositories import projects as repository

DEFAULT = "default"


def default_project(session: Session) -> Project:
    """The project that everything belongs to. Safe to call from several processes at once."""
    return repository.get_or_make(session, DEFAULT)


def actor_for(session: Session, project: Project, name: str = "local", kind: ActorKind = ActorKind.PERSON) -> Actor:
    """The project's actor of that name. Whoever reaches the service without a name is `local`."""
    return repository.actor(session, project.id, name, kind.value)
