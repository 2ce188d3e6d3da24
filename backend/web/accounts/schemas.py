"""Bodies of requests about projects and people."""

from datetime import datetime

from pydantic import Field

from backend.db.models.enums import Role
from backend.services.accounts.access_tokens import LONGEST_DAYS, TokenKind
from backend.services.accounts.read_models import AccessTokenView
from backend.services.accounts.trust_rules import LONGEST_MINUTES
from backend.services.accounts.users import NoRole
from backend.services.read_model import ReadModel
from backend.web.api_common import RequestModel

_BY_PROVIDER = "By provider; `all` = all providers together."


class ProjectBody(RequestModel):
    """A project's scheduling settings; omitted fields stay."""

    weight: float = Field(default=1.0, ge=0.01, le=1000, examples=[2.0])
    quota: dict[str, int] = Field(default={}, description=f"Desktops at once. {_BY_PROVIDER}", examples=[{"all": 12}])
    reserved: dict[str, int] = Field(
        default={}, description="Slots kept free for its interactive episodes, by provider.", examples=[{"local": 1}]
    )


class NewProject(RequestModel):
    """A new project."""

    name: str = Field(min_length=1, max_length=100, examples=["checkout-team"])


class PersonBody(RequestModel):
    """A new account."""

    name: str = Field(min_length=1, max_length=100, description="Sign-in name.", examples=["ada@example.org"])
    role: Role = Field(default=Role.VIEWER, description="Role in the project.")
    admin: bool = Field(default=False, description="Administers the installation.")


class PersonChanges(RequestModel):
    """Changes of an account; omitted fields stay."""

    role: Role | NoRole | None = Field(
        default=None, description="Role in the project; `none` takes it away: the person sees nothing of the project."
    )
    admin: bool | None = Field(default=None, description="Administers the installation.")
    enabled: bool | None = Field(default=None, description="May sign in; false ends the person's sessions.")


class TokenBody(RequestModel):
    """A new token of a program."""

    name: str = Field(min_length=1, max_length=100, description="Purpose of the token.", examples=["nightly"])
    kind: TokenKind = Field(default=TokenKind.PERSONAL, description="`project` needs the role of an admin.")
    role: Role = Field(default=Role.RUNNER, description="What it may do at most.")
    days: int = Field(default=90, ge=1, le=LONGEST_DAYS, description="Days until it expires.")


class NewToken(AccessTokenView):
    """A token, shown once."""

    token: str = Field(description="Send it as `Authorization: Bearer TOKEN`.")


class TrustRuleBody(RequestModel):
    """A new rule about jobs of a CI system."""

    name: str = Field(min_length=1, max_length=100, examples=["shop-main"])
    issuer: str = Field(min_length=1, max_length=500, examples=["https://token.actions.githubusercontent.com"])
    audience: str = Field(min_length=1, max_length=500, examples=["https://deskarena.example.org"])
    claims: dict[str, str] = Field(
        min_length=1,
        max_length=20,
        description="Pattern by claim; `*` stands for any text. `sub` must be among them.",
        examples=[{"sub": "repo:acme/shop:ref:refs/heads/main"}],
    )
    role: Role = Field(default=Role.RUNNER, description="What its tokens may do.")
    minutes: int = Field(default=60, ge=1, le=LONGEST_MINUTES, description="How long they last.")


class IdTokenBody(RequestModel):
    """The id token that a CI system gave a job."""

    id_token: str = Field(min_length=1, max_length=20_000)
    project: str = Field(default="default", min_length=1, max_length=100, description="Whose token it gets.")


class StreamTicketBody(RequestModel):
    """Which stream is to be opened."""

    path: str = Field(min_length=1, max_length=200, description="Without a query.", examples=["/ws/events"])


class NewStreamTicket(ReadModel):
    """A ticket for one stream, once."""

    ticket: str
    path: str
    expires_at: datetime


class OneTimeLink(ReadModel):
    """A link with which a person chooses a password, once, within 24 hours."""

    address: str
