"""Signing in with an OpenID provider: the code flow with PKCE, and whose account it is.

OpenID Connect Core 1.0, section 3.1; RFC 7636 (PKCE); RFC 9207 (the issuer in the answer).
"""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
from authlib.common.security import generate_token
from authlib.oauth2 import OAuth2Error
from authlib.oauth2.client import OAuth2Client
from pydantic import BaseModel, ConfigDict
from sqlalchemy.orm import Session

from backend.db.models import UserAccount, UserIdentity
from backend.db.models.enums import Role
from backend.db.repositories.accounts import identities
from backend.db.repositories.accounts import users as repository
from backend.domain.errors import DeskarenaError, NotAllowed, Unavailable
from backend.domain.ports.web import Web
from backend.services.accounts import audit, users
from backend.services.accounts.id_tokens import IdTokenRefused, Issuers
from backend.services.accounts.principal import Principal, bind, principal_of

_TIMEOUT = 10.0
_MOST_BYTES = 2**20
_OK = 200
MOST_GROUPS = 1000


@dataclass(frozen=True)
class OpenIdRules:
    """An installation's settings for its OpenID provider.

    Attributes:
        issuer: its address.
        client_id: under which it knows this installation.
        client_secret: the secret as it is now; empty: only PKCE proves this installation.
        scopes: what is asked for.
        first_sign_in: `refuse` who is not known yet; `link` them to the account that has their verified e-mail address
            as its name; `create` such an account if there is none.
        groups_claim: claim with the person's groups.
        roles: role by project, by group. Of the projects that it names, a person has the highest role of their groups.
        admins: groups whose members administer the installation; empty: decided here.
    """

    issuer: str
    client_id: str
    client_secret: Callable[[], str]
    scopes: Sequence[str]
    first_sign_in: str
    groups_claim: str
    roles: Mapping[str, Mapping[str, str]]
    admins: Sequence[str]


class SignInAttempt(BaseModel):
    """State that the browser keeps during the sign-in. `following`: the page that the person asked for."""

    model_config = ConfigDict(frozen=True)

    state: str
    nonce: str
    verifier: str
    following: str

    def packed(self) -> str:
        """The value of its cookie."""
        return urlsafe_b64encode(self.model_dump_json().encode()).decode()

    @classmethod
    def read(cls, cookie: str) -> "SignInAttempt | None":
        """One from a browser's cookie; None if it is invalid."""
        try:
            return cls.model_validate_json(urlsafe_b64decode(cookie.encode()))
        except ValueError:
            return None


@dataclass(frozen=True)
class ProvenIdentity:
    """A person's identity at a provider. `email` is empty unless the provider has verified it."""

    issuer: str
    subject: str
    email: str
    groups: frozenset[str]


class _GuardedSession:
    """The HTTP session that authlib's client needs, on the guarded client."""

    def __init__(self, web: Web) -> None:
        self._web = web

    def post(self, url: str, *, data: Mapping[str, str], headers: Mapping[str, str], auth: Any) -> httpx.Response:
        """Sends a form, with the client's credentials."""
        body = httpx.QueryParams(dict(data))
        url, signed, text = auth.prepare("POST", url, dict(headers), str(body))
        return _send(self._web, "POST", url, signed, text.encode())


def _send(web: Web, method: str, url: str, headers: Mapping[str, str], body: bytes = b"") -> httpx.Response:
    reply = web.send(method, url, headers=headers, body=body, max_bytes=_MOST_BYTES, timeout=_TIMEOUT)
    return httpx.Response(reply.status, content=reply.body, request=httpx.Request(method, url))


class OpenIdClient:
    """This installation, as a client of its provider."""

    def __init__(self, rules: OpenIdRules, issuers: Issuers, web: Web) -> None:
        self.rules = rules
        self._issuers = issuers
        self._web = web

    def begin(self, callback: str, following: str) -> tuple[str, SignInAttempt]:
        """Address of the provider's page, and what the browser must keep meanwhile.

        Args:
            callback: our address to which the provider sends the browser back.
            following: path that is shown afterwards.

        Raises:
            Unavailable: the provider does not answer.
        """
        attempt = SignInAttempt(
            state=generate_token(43), nonce=generate_token(43), verifier=generate_token(64), following=following
        )
        address, _ = self._client(callback).create_authorization_url(
            self._endpoint("authorization_endpoint"),
            state=attempt.state,
            nonce=attempt.nonce,
            code_verifier=attempt.verifier,
        )
        return str(address), attempt

    def finish(self, callback: str, attempt: SignInAttempt | None, answer: Mapping[str, str]) -> ProvenIdentity:
        """Completes a sign-in and returns the identity.

        Args:
            callback: as in `begin`.
            attempt: what the browser has kept.
            answer: the parameters with which the provider sent the browser back.

        Raises:
            NotAllowed: the answer belongs to no attempt of this browser, the provider refused, or its token is wrong.
            Unavailable: the provider does not answer.
        """
        if attempt is None or not hmac.compare_digest(attempt.state.encode(), answer.get("state", "").encode()):
            raise NotAllowed("this sign-in was not started in this browser", code="sign_in_state", hint="Begin again.")
        if answer.get("iss", self.rules.issuer) != self.rules.issuer:
            raise NotAllowed("the answer comes from another provider", code="sign_in_state", hint="Begin again.")
        if "error" in answer or not answer.get("code"):
            raise NotAllowed(f"the provider says: {answer.get('error', 'nothing')[:100]}", code="sign_in_refused")
        try:
            tokens = self._client(callback).fetch_token(
                self._endpoint("token_endpoint"), code=answer["code"], code_verifier=attempt.verifier
            )
        except OAuth2Error as error:
            raise NotAllowed(f"the provider says: {str(error)[:200]}", code="sign_in_refused") from error
        except (DeskarenaError, httpx.HTTPError, ValueError) as error:
            raise Unavailable("the OpenID provider does not answer", code="issuer_unavailable") from error
        access = str(tokens.get("access_token", ""))
        claims = self._issuers.verify(
            str(tokens.get("id_token", "")),
            issuer=self.rules.issuer,
            audience=self.rules.client_id,
            client_id=self.rules.client_id,
            nonce=attempt.nonce,
            access_token=access or None,
        )
        return self._identity(claims, access)

    def _identity(self, claims: Mapping[str, Any], access_token: str) -> ProvenIdentity:
        """Claims of the token, with those that only the provider's endpoint tells."""
        address = self._issuers.metadata(self.rules.issuer).get("userinfo_endpoint")
        missing = {"email", self.rules.groups_claim} - set(claims)
        if address and access_token and missing:
            headers = {"Authorization": f"Bearer {access_token}", "Accept": "application/json"}
            try:
                reply = _send(self._web, "GET", str(address), headers)
                more = reply.json() if reply.status_code == _OK else {}
            except (DeskarenaError, ValueError) as error:
                raise Unavailable("the OpenID provider does not answer", code="issuer_unavailable") from error
            if isinstance(more, dict) and more.get("sub") == claims["sub"]:
                claims = {**more, **claims}
        groups = claims.get(self.rules.groups_claim)
        names = groups if isinstance(groups, list) else [groups] if isinstance(groups, str) else []
        verified = claims.get("email_verified") is True and isinstance(claims.get("email"), str)
        email = str(claims["email"]).strip().lower() if verified else ""
        subject = claims["sub"]
        if not isinstance(subject, str) or not 0 < len(subject) <= 255:  # noqa: PLR2004 - Core, section 2
            raise IdTokenRefused("the id token is not valid: its subject")
        return ProvenIdentity(self.rules.issuer, subject, email, frozenset(map(str, names[:MOST_GROUPS])))

    def _client(self, callback: str) -> OAuth2Client:
        methods = self._issuers.metadata(self.rules.issuer).get("token_endpoint_auth_methods_supported") or []
        secret = self.rules.client_secret() or None
        by_form = "client_secret_post" in methods and "client_secret_basic" not in methods
        return OAuth2Client(
            _GuardedSession(self._web),
            client_id=self.rules.client_id,
            client_secret=secret,
            token_endpoint_auth_method="client_secret_post" if by_form and secret else None,
            scope=" ".join(self.rules.scopes),
            redirect_uri=callback,
            code_challenge_method="S256",
        )

    def _endpoint(self, name: str) -> str:
        address = self._issuers.metadata(self.rules.issuer).get(name)
        if not isinstance(address, str):
            raise Unavailable(f"{self.rules.issuer} names no {name}", code="issuer_unavailable")
        return address


def sign_in(session: Session, identity: ProvenIdentity, rules: OpenIdRules) -> UserAccount:
    """The account of somebody who has signed in at the provider, with the roles of their groups.

    Raises:
        NotAllowed: they have no account here and get none, or it is disabled.
    """
    user = identities.user_of(session, identity.issuer, identity.subject) or _account_at_first_sign_in(
        session, identity, rules
    )
    if user.disabled_at is not None:
        raise NotAllowed("this account is disabled", code="sign_in_refused")
    identities.mark_used(session, identity.issuer, identity.subject)
    bind(session, Principal(user.name, None, user_id=user.id, address=principal_of(session).address))
    changes = {**_set_roles(session, user, identity, rules), **_set_admin(session, user, identity, rules)}
    if changes:
        audit.record(session, "roles_from_groups", user.name, changes)
    return user


def _account_at_first_sign_in(session: Session, identity: ProvenIdentity, rules: OpenIdRules) -> UserAccount:
    """The account of somebody who signs in like this for the first time."""
    if rules.first_sign_in == "refuse" or not identity.email:
        reason = "has not verified your e-mail address" if rules.first_sign_in != "refuse" else "is not known here"
        raise NotAllowed(f"your account at the provider {reason}", code="sign_in_refused", hint="Ask an administrator.")
    user = repository.by_name(session, identity.email, lock=True)
    if user is None and rules.first_sign_in == "create":
        user = users.create_account(session, identity.email)
        audit.record(session, "person_added", user.name, {"identity": [None, identity.subject]})
    if user is None:
        raise NotAllowed("there is no account with your e-mail address", code="sign_in_refused")
    if identities.has_other(session, user.id, identity.issuer):  # The address was given to somebody else.
        raise NotAllowed("the account with your e-mail address belongs to somebody else", code="sign_in_refused")
    now = repository.now(session)
    session.add(UserIdentity(user_id=user.id, issuer=identity.issuer, subject=identity.subject, used_at=now))
    audit.record(session, "identity_linked", user.name, {"identity": [None, identity.subject]})
    session.flush()  # It is noted as used with a statement.
    return user


def _set_roles(session: Session, user: UserAccount, identity: ProvenIdentity, rules: OpenIdRules) -> dict[str, Any]:
    """Sets the roles in the projects that the rules name. Returns what changed."""
    named = {project for roles in rules.roles.values() for project in roles}
    changes: dict[str, Any] = {}
    for project, (project_id, before) in identities.projects(session, sorted(named), user.id).items():
        own = [Role(rules.roles[group][project]) for group in identity.groups if project in rules.roles.get(group, {})]
        role = max(own, key=list(Role).index) if own else None
        if role != before:
            repository.set_role(session, user.id, project_id, role)
            changes[project] = [before, role]
    return changes


def _set_admin(session: Session, user: UserAccount, identity: ProvenIdentity, rules: OpenIdRules) -> dict[str, Any]:
    admin = bool(identity.groups & set(rules.admins))
    if not rules.admins or admin == user.admin or (not admin and users.is_last_admin(session, user)):
        return {}
    user.admin = admin
    return {"administrator": [not admin, admin]}
