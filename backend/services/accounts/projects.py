"""Who acts, and for which project. There is one project until somebody needs a second."""

from sqlalchemy.orm import Session

from backend.db.models import Actor, Project
from backend.db.models.enums import ActorKind
from backend.db.repositories.accounts import projects as repository
from backend.domain.errors import Invalid

DEFAULT = "default"
LOCAL = "local"
"""Whoever reaches the service and gives no name: there is one token, not one each."""
LONGEST_NAME = 100


def default_project(session: Session) -> Project:
    """The project that everything belongs to. Safe to call from several processes at once."""
    return repository.get_or_make(session, DEFAULT)


def actor_for(session: Session, project: Project, name: str = LOCAL, kind: ActorKind = ActorKind.PERSON) -> Actor:
    """The project's actor of that name."""
    return repository.actor(session, project.id, name, kind.value)


def person(session: Session, project: Project, name: str, *, path: str = "person") -> Actor:
    """The person of that name, without the blanks around it.

    Args:
        session: the transaction.
        project: that the person belongs to.
        name: as it was given.
        path: of the name in what was sent.

    Raises:
        Invalid: it is blank, no name, or that of a program.
    """
    name = name.strip()
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise Invalid(f"expected a name of 1 to {LONGEST_NAME} characters", code="invalid_name", path=path)
    actor = actor_for(session, project, name)
    if actor.kind != ActorKind.PERSON:
        raise Invalid(f"{name!r} is a {actor.kind}, not a person", code="not_a_person", path=path)
    return actor


def person_or_local(session: Session, project: Project, name: str, *, path: str = "person") -> Actor:
    """`person`, where a name may be left out: whoever gives none is `local`. Raises Invalid."""
    return person(session, project, name if name.strip() else LOCAL, path=path)
