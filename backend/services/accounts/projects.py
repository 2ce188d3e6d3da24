"""Projects and actors."""

import re

from sqlalchemy.orm import Session

from backend.db.models import Actor, Project
from backend.db.models.enums import ActorKind
from backend.db.repositories.accounts import projects as repository
from backend.db.repositories.accounts import users
from backend.domain.errors import Conflict, Invalid
from backend.services.accounts import audit
from backend.services.accounts.principal import principal_of

DEFAULT = "default"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
LOCAL = "local"
"""Actor of requests without a name, and of programs with the installation's token."""
LONGEST_NAME = 100


def default_project(session: Session) -> Project:
    """The request's project, else the one called `default`, created if missing. Safe to call concurrently."""
    project_id = principal_of(session).project_id
    project = None if project_id is None else repository.get(session, project_id)
    return project or repository.get_or_make(session, DEFAULT)


def create_project(session: Session, name: str) -> Project:
    """Creates a project without members.

    Raises:
        NotAllowed: only administrators may.
        Invalid: the name is not allowed.
        Conflict: there is such a project.
    """
    principal_of(session).require_admin()
    if not _NAME.fullmatch(name):
        raise Invalid(
            "expected lower-case letters, digits, and . _ -, at most 100 characters", code="invalid_name", path="name"
        )
    if repository.by_name(session, name) is not None:
        raise Conflict(f"there is already a project called {name}", code="project_exists")
    audit.record(session, "project_created", name)
    return repository.get_or_make(session, name)


def own_projects(session: Session) -> list[str]:
    """Names of the projects in which who asks has a role."""
    principal = principal_of(session)
    if principal.user_id is None or principal.admin:
        return [project.name for project in repository.listing(session)]
    return users.projects_of(session, principal.user_id)


def actor_for(session: Session, project: Project, name: str = LOCAL, kind: ActorKind = ActorKind.PERSON) -> Actor:
    """The project's actor of that name, created if missing."""
    return repository.actor(session, project.id, name, kind.value)


def person(session: Session, project: Project, name: str, *, path: str = "person") -> Actor:
    """The person who is signed in, whatever name is given; without accounts, the one of that name.

    Args:
        session: the transaction.
        project: the person's project.
        name: as received.
        path: field of the name in the request.

    Raises:
        Invalid: it is blank, not a valid name, or the name of a program.
    """
    name = person_name(session, name).strip()
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise Invalid(f"expected a name of 1 to {LONGEST_NAME} characters", code="invalid_name", path=path)
    actor = acting(session, project) if principal_of(session).program else actor_for(session, project, name)
    if actor.kind != ActorKind.PERSON:
        raise Invalid(f"{name!r} is a {actor.kind}, not a person", code="not_a_person", path=path)
    return actor


def person_or_local(session: Session, project: Project, name: str, *, path: str = "person") -> Actor:
    """Like `person`, but the name is optional (default: `local`), and a program acts as itself. Raises Invalid."""
    if principal_of(session).program:
        return acting(session, project)
    return person(session, project, name if name.strip() else LOCAL, path=path)


def person_name(session: Session, name: str) -> str:
    """The name of the signed-in person, which a request cannot change; without accounts, the given name."""
    principal = principal_of(session)
    return principal.name if principal.user_id or principal.program else name


def acting(session: Session, project: Project) -> Actor:
    """The project's actor who makes the request: the person who is signed in, a program, or `local`."""
    principal = principal_of(session)
    return actor_for(session, project, principal.name, ActorKind.PROGRAM if principal.program else ActorKind.PERSON)
