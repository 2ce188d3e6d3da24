"""Signing in: server-side sessions, lock-out with back-off."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from sqlalchemy import Connection
from sqlalchemy.orm import Session

from backend.db.models import UserAccount, UserSession
from backend.db.models.enums import Role
from backend.db.repositories.accounts import users as repository
from backend.db.repositories.accounts.users import ProjectRow
from backend.domain.errors import NotAllowed, NotFound
from backend.services.accounts import audit, passwords
from backend.services.accounts.principal import NO_PROJECT, SERVICE, Principal, bind, principal_of, scope
from backend.services.accounts.read_models import UserSessionView
from backend.services.accounts.secret_tokens import is_token, new_token, token_hash

SESSION_LIFE = timedelta(days=30)
FREE_FAILURES = 5
"""Wrong passwords in a row before the account waits."""
FIRST_WAIT, LONGEST_WAIT = 15.0, 3600.0
"""Seconds, doubled with each further failure."""
_MARK = timedelta(minutes=1)
"""Interval at which the use of a session is noted."""
_KIND = "dks"


def wait_seconds(failures: int) -> float:
    """Seconds for which an account refuses every password after a number of failures in a row."""
    over = failures - FREE_FAILURES
    return 0.0 if over < 0 else min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(over, 20))


def sign_in(session: Session, name: str, password: str) -> UserAccount | None:
    """The person of a name and password; None if they do not match or the account waits. Counts failures.

    The answer does not tell which: neither names nor lock-outs can be found out. The account's row stays locked
    meanwhile, so that guesses in parallel count one by one.
    """
    name = name.strip().lower()
    user = repository.by_name(session, name, lock=True)
    now = repository.now(session)
    waits = user is not None and user.locked_until is not None and user.locked_until > now
    matches = passwords.matches(user.password_hash if user and not waits else "", password)
    if user is None or waits or user.disabled_at is not None or not matches:
        if user is not None and not waits:
            user.failed_sign_ins += 1
            wait = wait_seconds(user.failed_sign_ins)
            user.locked_until = now + timedelta(seconds=wait) if wait else None
        audit.record(session, "sign_in_failed", name[:100])
        return None
    user.failed_sign_ins, user.locked_until = 0, None
    return user


def start_session(session: Session, user: UserAccount, *, user_agent: str) -> str:
    """Starts a session with a new id. Returns the value of its cookie, which is not stored."""
    token, address = new_token(_KIND), principal_of(session).address
    row = UserSession(
        user_id=user.id,
        token_hash=token_hash(token),
        address=address,
        user_agent=user_agent[:300],
        expires_at=repository.now(session) + SESSION_LIFE,
    )
    session.add(row)
    session.flush()  # The principal has its id.
    bind(session, Principal(user.name, None, admin=user.admin, user_id=user.id, session_id=row.id, address=address))
    audit.record(session, "sign_in", user.name)
    return token


def principal_of_cookie(
    connection: Connection, cookie: str, project: str, *, strict: bool
) -> tuple[Principal, bool] | None:
    """Principal of a cookie's session, and whether its use should be noted; None if it has ended.

    Args:
        connection: to the database.
        cookie: the browser's.
        project: name of the project that the request is about; empty: the person's first.
        strict: no other project will do: without a role in it, the person has none.
    """
    if not is_token(cookie, _KIND):
        return None
    return principal_of_session(connection, token_hash(cookie), project, strict=strict)


def principal_of_session(
    connection: Connection, session_hash: str, project: str, *, strict: bool
) -> tuple[Principal, bool] | None:
    """As `principal_of_cookie`, by the SHA-256 (hex) of the cookie."""
    row = repository.open_session(connection, session_hash, project)
    if row is None:
        return None
    principal = Principal(row.user, None, admin=row.admin, user_id=row.user_id, session_id=row.id)
    return _in_project(principal, row.project, project, strict=strict), row.idle > _MARK


def service_principal(connection: Connection, project: str, *, strict: bool) -> Principal:
    """A program with the installation's token. Args: see `principal_of_cookie`."""
    return _in_project(SERVICE, repository.any_project(connection, project), project, strict=strict)


def _in_project(principal: Principal, row: ProjectRow | None, project: str, *, strict: bool) -> Principal:
    """The principal with a project and their role in it; without one, they see nothing."""
    if row is None or row.id is None or (strict and row.name != project):
        return replace(principal, role=None, project_id=NO_PROJECT, project=project)
    own = Role.ADMIN if principal.admin else Role(row.role) if row.role else None
    return replace(principal, role=own, project_id=scope(row.id, row.number), project=row.name or "")


def mark_used(session: Session, session_id: UUID) -> None:
    """Notes that a session is used."""
    repository.mark_used(session, session_id)


def list_sessions(session: Session) -> list[UserSessionView]:
    """The person's own sessions."""
    principal = principal_of(session)
    return [
        UserSessionView(
            id=row.id,
            address=row.address,
            user_agent=row.user_agent,
            current=row.id == principal.session_id,
            used_at=row.used_at,
            expires_at=row.expires_at,
            created_at=row.created_at,
        )
        for row in repository.sessions_of(session, _person_id(principal))
    ]


def end_session(session: Session, session_id: UUID) -> None:
    """Ends one of the person's own sessions. Raises NotFound if it is not theirs."""
    principal = principal_of(session)
    if not repository.end_sessions(session, _person_id(principal), only=session_id):
        raise NotFound("there is no such session", code="session_not_found")
    audit.record(session, "session_ended", principal.name)


def sign_out(session: Session) -> None:
    """Ends the session of this request, if there is one."""
    principal = principal_of(session)
    if principal.user_id and principal.session_id:
        repository.end_sessions(session, principal.user_id, only=principal.session_id)
        audit.record(session, "sign_out", principal.name)


def change_password(session: Session, current: str, new: str, *, user_agent: str) -> str | None:
    """Changes the person's own password and ends all their sessions. Returns the cookie of a new one.

    None if the current password is wrong or the account waits, which counts like a failed sign-in.

    Raises:
        Invalid: the new password is not allowed.
    """
    principal = principal_of(session)
    _person_id(principal)
    user = sign_in(session, principal.name, current)
    if user is None:
        return None
    user.password_hash = passwords.hash_password(new, user.name)
    ended = repository.end_sessions(session, user.id)
    audit.record(session, "password_changed", user.name, {"sessions": [ended, 1]})
    return start_session(session, user, user_agent=user_agent)


def _person_id(principal: Principal) -> UUID:
    if principal.user_id is None:
        raise NotAllowed("only people who have signed in have an account", code="no_account")
    return principal.user_id
