"""Read models of people, sessions and the audit log."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from backend.db.models.enums import Role
from backend.services.read_model import ReadModel


class UserView(ReadModel):
    """A person who signs in."""

    name: str
    admin: bool = Field(description="Administers the installation: people, projects, the audit log.")
    enabled: bool = Field(description="May sign in.")
    has_password: bool = Field(description="Has opened the one-time link and chosen a password.")
    roles: dict[str, Role] = Field(description="Role by project.", examples=[{"default": "runner"}])
    created_at: datetime


class UserSessionView(ReadModel):
    """A browser in which somebody is signed in."""

    id: UUID
    address: str = Field(description="Where the sign-in came from.")
    user_agent: str
    current: bool = Field(description="The session of this request.")
    used_at: datetime
    expires_at: datetime
    created_at: datetime


class AccessTokenView(ReadModel):
    """A program's token; the token itself is not stored."""

    id: UUID
    name: str
    kind: str = Field(description="`personal`: acts as its person; `project`: as a program.", examples=["personal"])
    beginning: str = Field(description="First characters, to recognise it.", examples=["dkp_Zq81x0"])
    role: Role = Field(description="What it may do at most.")
    expires_at: datetime
    used_at: datetime | None
    created_at: datetime


class TrustRuleView(ReadModel):
    """Which jobs of a CI system get tokens of the project."""

    id: UUID
    name: str
    issuer: str = Field(examples=["https://token.actions.githubusercontent.com"])
    audience: str
    claims: dict[str, str] = Field(
        description="Pattern by claim; `*` stands for any text.",
        examples=[{"sub": "repo:acme/shop:ref:refs/heads/main"}],
    )
    role: Role = Field(description="What its tokens may do.")
    minutes: int = Field(description="How long they last.")
    used_at: datetime | None
    created_at: datetime


class JobToken(ReadModel):
    """A job's token of a project, shown once."""

    token: str = Field(description="Send it as `Authorization: Bearer TOKEN`.")
    role: Role
    expires_at: datetime


class AuditView(ReadModel):
    """An entry of the audit log."""

    id: UUID
    created_at: datetime
    who: str
    action: str
    target: str
    address: str
    changes: dict[str, Any] = Field(description="Values before and after, by changed field.")
