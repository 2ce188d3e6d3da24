"""Projects and actors. There is only one project so far."""

from sqlalchemy.orm import Session

from backend.db.models import Actor, Project
from backend.db.models.enums import ActorKind
from backend.db.repositories.accounts import projects as repository
from backend.domain.errors import Invalid

DEFAULT = "default"
LOCAL = "local"
"""Actor of requests without a name: there is one token for everybody."""
LONGEST_NAME = 100


def default_project(session: Session) -> Project:
    """The default project, created if missing. Safe to call from several processes at once."""
    return repository.get_or_make(session, DEFAULT)


def actor_for(session: Session, project: Project, name: str = LOCAL, kind: ActorKind = ActorKind.PERSON) -> Actor:
    """The project's actor of that name, created if missing."""
    return repository.actor(session, project.id, name, kind.value)


def person(session: Session, project: Project, name: str, *, path: str = "person") -> Actor:
    """The person of that name, without surrounding spaces.

    Args:
        session: the transaction.
        project: the person's project.
        name: as received.
        path: field of the name in the request.

    Raises:
        Invalid: it is blank, not a valid name, or the name of a program.
    """
    name = name.strip()
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise Invalid(f"expected a name of 1 to {LONGEST_NAME} characters", code="invalid_name", path=path)
    actor = actor_for(session, project, name)
    if actor.kind != ActorKind.PERSON:
        raise Invalid(f"{name!r} is a {actor.kind}, not a person", code="not_a_person", path=path)
    return actor


def person_or_local(session: Session, project: Project, name: str, *, path: str = "person") -> Actor:
    """Like `person`, but the name is optional (default: `local`). Raises Invalid."""
    return person(session, project, name if name.strip() else LOCAL, path=path)
