"""The principal of a request. It is bound to it: every query sees only the rows of the principal's project."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models.enums import Role
from backend.db.project_scope import visible_project
from backend.domain.errors import NotAllowed

_KEY = "principal"
NO_PROJECT = UUID(int=0)
"""Stands for a project without rows."""


@dataclass(frozen=True)
class Principal:
    """The person, token or program that makes a request.

    Attributes:
        name: name of the actor in a project.
        role: role in the request's project; None without one.
        admin: administers the installation: people, projects, the audit log.
        user_id: the account; None for programs and without accounts.
        session_id: the browser's session, if any.
        address: where the request comes from.
        program: a program of an installation with accounts: it speaks for no person.
        project_id: the request's project; None: the default one, and every project's rows are visible.
        project: its name.
    """

    name: str
    role: Role | None
    admin: bool = False
    user_id: UUID | None = None
    session_id: UUID | None = None
    address: str = ""
    program: bool = False
    project_id: UUID | None = None
    project: str = "default"

    def require(self, role: Role) -> None:
        """Refuses those whose role in the project does not cover `role`.

        Raises:
            NotAllowed: with code `role_required`.
        """
        if self.role is None or not self.role.covers(role):
            has = f"yours is {self.role}" if self.role else "you have none in this project"
            raise NotAllowed(
                f"this needs the role {role}; {has}",
                code="role_required",
                hint="An administrator can give you another role on the page of people.",
            )

    def require_session(self) -> UUID:
        """Id of the person, who must have signed in: a token that leaked must not make further ones.

        Raises:
            NotAllowed: with code `no_account`.
        """
        if self.user_id is None or self.session_id is None:
            raise NotAllowed(
                "tokens are managed by people who have signed in", code="no_account", hint="Open /account in a browser."
            )
        return self.user_id

    def require_admin(self) -> None:
        """Refuses those who do not administer the installation. Raises NotAllowed."""
        if not self.admin:
            raise NotAllowed("only administrators may do this", code="admin_required")

    def may_keep_open(self, opened_by: "Principal") -> bool:
        """Whether a stream that this principal opened earlier may stay open: same project, no lesser role."""
        if self.role is None or opened_by.role is None or self.project != opened_by.project:
            return False
        return self.role.covers(opened_by.role)

    def seen_from(self, address: str) -> "Principal":
        """This principal with the address of the request."""
        return replace(self, address=address)


LOCAL = Principal("local", Role.ADMIN, admin=True)
"""Requests to an installation without accounts."""
SERVICE = Principal("service", Role.ADMIN, admin=True, program=True)
"""Programs with the installation's token, where people have accounts."""
NOBODY = Principal("", None)
"""Requests for open pages, such as the one for signing in."""


def scope(project_id: UUID, number: int) -> UUID | None:
    """The project whose rows a request sees; None, which adds no rules to its queries, if it is the only project.

    Args:
        project_id: the request's project.
        number: of all projects.
    """
    return project_id if number > 1 else None


_ACTING: ContextVar[Principal] = ContextVar("principal", default=LOCAL)


@contextmanager
def acting_as(principal: Principal) -> Iterator[None]:
    """Within it, and in tasks and threads that start in it, the principal acts and sees their project's rows only."""
    token = _ACTING.set(principal)
    try:
        with visible_project(principal.project_id):
            yield
    finally:
        _ACTING.reset(token)


def bind(session: Session, principal: Principal) -> None:
    """Binds a principal to a transaction."""
    session.info[_KEY] = principal


def principal_of(session: Session) -> Principal:
    """The actor of this transaction; workers and commands act as `LOCAL`."""
    principal: Principal = session.info.get(_KEY) or _ACTING.get()
    return principal
