"""People: accounts, one-time links, roles. Who may do it is checked here."""

import re
from datetime import timedelta
from typing import Literal

from sqlalchemy.orm import Session

from backend.db.models import UserAccount
from backend.db.models.enums import Role
from backend.db.repositories.accounts import users as repository
from backend.domain.errors import Conflict, Gone, Invalid, NotFound
from backend.services.accounts import audit, passwords
from backend.services.accounts.principal import SERVICE, Principal, bind, principal_of
from backend.services.accounts.projects import LOCAL, default_project
from backend.services.accounts.read_models import UserView
from backend.services.accounts.secret_tokens import new_token, token_hash

NoRole = Literal["none"]
FIRST = "admin"
"""Name of the first person."""
LINK_LIFE = timedelta(hours=24)
_RENEWABLE = timedelta(minutes=1)
"""Processes that start together leave the first one's link in force."""
_NAME = re.compile(r"[a-z0-9][a-z0-9._@+-]{0,99}")
_LINK_KIND = "dkl"


def list_people(session: Session) -> list[UserView]:
    """All people by name, with their roles. Raises NotAllowed."""
    principal_of(session).require_admin()
    roles: dict[object, dict[str, str]] = {}
    for user_id, project, role in repository.memberships(session):
        roles.setdefault(user_id, {})[project] = role
    return [_view(user, roles.get(user.id, {})) for user in repository.listing(session)]


def add_person(session: Session, name: str, *, role: Role | None = Role.VIEWER, admin: bool = False) -> str:
    """Creates an account. Returns the token of the one-time link with which its person chooses a password.

    Raises:
        Invalid: the name is not allowed.
        Conflict: there is such a person.
        NotAllowed: only administrators may.
    """
    principal_of(session).require_admin()
    name = name.strip().lower()
    if repository.by_name(session, name) is not None:
        raise Conflict(f"there is already a person called {name}", code="person_exists")
    user = create_account(session, name, admin=admin)
    if role is not None:
        _set_role(session, user, role)
    audit.record(session, "person_added", name, {"admin": [None, admin], "role": [None, role]})
    return _new_link(session, user)


def create_account(session: Session, name: str, *, admin: bool = False) -> UserAccount:
    """An account without password and roles. Raises Invalid if its name is not allowed."""
    if not _NAME.fullmatch(name) or name in {LOCAL, SERVICE.name}:
        raise Invalid(
            "expected lower-case letters, digits, and . _ @ + -, at most 100 characters",
            code="invalid_name",
            path="name",
            hint="An e-mail address is a good name.",
        )
    user = UserAccount(name=name, admin=admin)
    session.add(user)
    session.flush()  # Its id is needed for memberships.
    return user


def change_person(
    session: Session,
    name: str,
    *,
    role: Role | NoRole | None = None,
    admin: bool | None = None,
    enabled: bool | None = None,
) -> UserView:
    """Changes a person's role, rights or access; None leaves what it was. Ends the sessions of a disabled person.

    The role `none` takes the one in the project away.

    Raises:
        NotFound: there is no such person.
        Conflict: nobody would administer the installation any more.
        NotAllowed: only administrators may.
    """
    principal_of(session).require_admin()
    user = _user(session, name)
    before = {"admin": user.admin, "enabled": user.disabled_at is None}
    if (admin is False or enabled is False) and is_last_admin(session, user):
        raise Conflict(f"{name} is the only administrator", code="last_admin")
    if admin is not None:
        user.admin = admin
    if enabled is not None:
        user.disabled_at = None if enabled else repository.now(session)
        if not enabled:
            repository.end_sessions(session, user.id)
            user.link_hash = None
    old_role = _roles(session, user).get(default_project(session).name)
    new_role = old_role if role is None else None if role == "none" else role
    if new_role != old_role:
        _set_role(session, user, None if new_role is None else Role(new_role))
    after = {"admin": user.admin, "enabled": user.disabled_at is None, "role": new_role}
    audit.record(session, "person_changed", name, audit.differences({**before, "role": old_role}, after))
    session.flush()  # The roles are read with a query.
    return _view(user, _roles(session, user))


def renew_link(session: Session, name: str) -> str:
    """A new one-time link for a person who has lost theirs or their password; its token is returned.

    Raises:
        NotFound: there is no such person.
        NotAllowed: only administrators may.
    """
    principal_of(session).require_admin()
    user = _user(session, name)
    audit.record(session, "link_created", name)
    return _new_link(session, user)


def link_owner(session: Session, token: str) -> str:
    """Name of the person for whom a one-time link was created. Raises Gone."""
    return _user_of_link(session, token, lock=False).name


def set_first_password(session: Session, token: str, password: str) -> UserAccount:
    """Sets the password of a one-time link's person, which uses up the link and ends their sessions.

    Raises:
        Gone: the link was used, replaced or has expired.
        Invalid: the password is not allowed.
    """
    user = _user_of_link(session, token, lock=True)
    user.password_hash = passwords.hash_password(password, user.name)
    user.link_hash, user.link_expires_at, user.failed_sign_ins, user.locked_until = None, None, 0, None
    ended = repository.end_sessions(session, user.id)
    bind(session, Principal(user.name, None, user_id=user.id, address=principal_of(session).address))
    audit.record(session, "password_set_by_link", user.name, {"sessions": [ended, 0]})
    return user


def first_link(session: Session) -> str | None:
    """The token of a one-time link for the first administrator, who is created if there are no people.

    None if somebody has a password, or another process has just created the link. Safe to call from several processes.
    """
    repository.lock_first_user(session)
    default_project(session)  # Even the first administrator is in a project.
    people = repository.listing(session)
    if any(user.password_hash for user in people):
        return None
    user = repository.by_name(session, FIRST)
    if user is None:
        user = UserAccount(name=FIRST, admin=True)
        session.add(user)
    elif user.link_expires_at and user.link_expires_at - LINK_LIFE + _RENEWABLE > repository.now(session):
        return None
    return _new_link(session, user)


def _new_link(session: Session, user: UserAccount) -> str:
    token = new_token(_LINK_KIND)
    user.link_hash, user.link_expires_at = token_hash(token), repository.now(session) + LINK_LIFE
    return token


def _user_of_link(session: Session, token: str, *, lock: bool) -> UserAccount:
    user = repository.by_link(session, token_hash(token), lock=lock)
    if user is None or user.disabled_at or not user.link_expires_at or user.link_expires_at < repository.now(session):
        raise Gone(
            "this link was used, replaced, or has expired",
            code="link_used",
            hint="Ask an administrator for a new one.",
        )
    return user


def _user(session: Session, name: str) -> UserAccount:
    user = repository.by_name(session, name, lock=True)
    if user is None:
        raise NotFound(f"there is no person called {name}", code="person_not_found")
    return user


def _set_role(session: Session, user: UserAccount, role: Role | None) -> None:
    repository.set_role(session, user.id, default_project(session).id, role)


def _roles(session: Session, user: UserAccount) -> dict[str, str]:
    return {project: role for user_id, project, role in repository.memberships(session) if user_id == user.id}


def is_last_admin(session: Session, user: UserAccount) -> bool:
    """Whether this is the only administrator."""
    others = (admin for admin in repository.listing(session) if admin.id != user.id)
    return user.admin and not any(admin.admin and admin.disabled_at is None for admin in others)


def _view(user: UserAccount, roles: dict[str, str]) -> UserView:
    return UserView(
        name=user.name,
        admin=user.admin,
        enabled=user.disabled_at is None,
        has_password=bool(user.password_hash),
        roles={project: Role(role) for project, role in sorted(roles.items())},
        created_at=user.created_at,
    )
