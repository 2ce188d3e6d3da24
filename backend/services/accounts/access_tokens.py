"""Tokens of programs: personal ones act as their person, those of a project as a program of their own."""

from dataclasses import replace
from datetime import timedelta
from enum import StrEnum
from uuid import UUID

from sqlalchemy import Connection
from sqlalchemy.orm import Session

from backend.db.models import AccessToken
from backend.db.models.enums import Role
from backend.db.repositories.accounts import access_tokens as repository
from backend.db.repositories.accounts import users
from backend.domain.errors import Invalid, NotFound
from backend.services.accounts import audit
from backend.services.accounts.principal import NO_PROJECT, Principal, principal_of, scope
from backend.services.accounts.projects import default_project
from backend.services.accounts.read_models import AccessTokenView
from backend.services.accounts.secret_tokens import is_token, new_token, token_hash

LONGEST_DAYS = 366
LONGEST_NAME = 100
SHOWN = 10
"""Characters of a token that people see: its kind and six of its random ones."""
_MARK = timedelta(minutes=1)


class TokenKind(StrEnum):
    """Whom a token speaks for."""

    PERSONAL = "personal"
    PROJECT = "project"


PROJECT_PREFIX = "dkj"
_PREFIXES = {TokenKind.PERSONAL: "dkp", TokenKind.PROJECT: PROJECT_PREFIX}


def looks_like_one(text: str) -> bool:
    """Whether a text has the shape and the checksum of such a token."""
    return any(is_token(text, prefix) for prefix in _PREFIXES.values())


def create(session: Session, name: str, *, kind: TokenKind, role: Role, days: int) -> tuple[str, AccessTokenView]:
    """Creates a token for the signed-in person, or as an admin of the project for the project.

    Args:
        session: the transaction.
        name: what it is for.
        kind: whom it speaks for.
        role: what it may do at most.
        days: after which it ends.

    Returns:
        The token, which is not stored, and its row.

    Raises:
        NotAllowed: not in a browser's session, or the role does not cover the token's.
        Invalid: a field.
    """
    principal = principal_of(session)
    user_id = principal.require_session()
    name = name.strip()
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise Invalid(f"expected a name of 1 to {LONGEST_NAME} characters", code="invalid_name", path="name")
    if not 1 <= days <= LONGEST_DAYS:
        raise Invalid(f"expected 1 to {LONGEST_DAYS} days", code="invalid_request", path="days")
    principal.require(Role.ADMIN if kind is TokenKind.PROJECT else role)
    token = new_token(_PREFIXES[kind])
    row = AccessToken(
        user_id=user_id if kind is TokenKind.PERSONAL else None,
        project_id=default_project(session).id,
        name=name,
        beginning=token[:SHOWN],
        token_hash=token_hash(token),
        role=role,
        expires_at=users.now(session) + timedelta(days=days),
    )
    session.add(row)
    session.flush()  # The view has its id.
    audit.record(session, "token_created", name, {"kind": [None, kind], "role": [None, role], "days": [None, days]})
    return token, _view(row)


def principal_of_hash(connection: Connection, hashed: str, project: str = "") -> tuple[Principal, UUID, bool] | None:
    """Whom a token speaks for, its id, and whether its use should be noted; None if it is not in force.

    Without a role if the request names another project than the token's. `hashed`: SHA-256 (hex) of the token.
    """
    row = repository.open_token(connection, hashed)
    if row is None:
        return None
    role = Role(row.role)
    if row.user is None:
        principal = Principal(f"token:{row.name}", role, program=True)
    else:
        own = Role.ADMIN if row.admin else Role(row.own_role) if row.own_role else None
        principal = Principal(row.user, own if own is None or role.covers(own) else role, user_id=row.user_id)
    if project and project != row.project:
        principal = replace(principal, role=None, project_id=NO_PROJECT, project=row.project)
    else:
        principal = replace(principal, project_id=scope(row.project_id, row.projects), project=row.project)
    return principal, row.id, row.idle is None or row.idle > _MARK


def mark_used(session: Session, token_id: UUID) -> None:
    """Notes that a token is used."""
    repository.mark_used(session, token_id)


def list_tokens(session: Session) -> list[AccessTokenView]:
    """The person's own tokens; for an admin of the project, its tokens, too. Raises NotAllowed."""
    principal = principal_of(session)
    project_id, with_projects = default_project(session).id, principal.role is Role.ADMIN
    rows = repository.listing(session, principal.require_session(), project_id, with_projects=with_projects)
    return [_view(row) for row in rows]


def revoke(session: Session, token_id: UUID) -> None:
    """Revokes one's own token, or as an admin of the project one of its tokens. It ends at once.

    Raises:
        NotFound: there is no such token, or it is another's.
        NotAllowed: not in a browser's session.
    """
    principal = principal_of(session)
    owner, row = principal.require_session(), repository.lock(session, token_id)
    if row is None or not (row.user_id == owner or (row.user_id is None and principal.role is Role.ADMIN)):
        raise NotFound("there is no such token", code="token_not_found")
    row.revoked_at = users.now(session)
    audit.record(session, "token_revoked", row.name)


def _view(row: AccessToken) -> AccessTokenView:
    return AccessTokenView(
        id=row.id,
        name=row.name,
        kind=TokenKind.PROJECT if row.user_id is None else TokenKind.PERSONAL,
        beginning=row.beginning,
        role=Role(row.role),
        expires_at=row.expires_at,
        used_at=row.used_at,
        created_at=row.created_at,
    )
