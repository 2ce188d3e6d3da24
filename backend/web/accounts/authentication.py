"""Authentication and authorization of every page, endpoint and websocket."""

import logging
import os

from fastapi import Request, WebSocketException
from starlette.requests import HTTPConnection

from backend.addresses import FIRST_LINK_FILE, JOIN_PATH
from backend.db.session import single_statements, unit_of_work
from backend.domain.errors import DeskarenaError, NotAllowed, Unavailable
from backend.services.accounts import access_tokens, sign_in, stream_tickets, users
from backend.services.accounts.principal import Principal
from backend.services.accounts.secret_tokens import token_hash
from backend.services.accounts.stream_tickets import Credential
from backend.telemetry.logs import add_log_ids
from backend.web.accounts.permissions import Need, need_of
from backend.web.dependencies import AppContext
from backend.web.http_metrics import TEMPLATE
from backend.web.security_middleware import Credentials

LOGGED = ("run_id", "episode_id", "attempt_id")
"""Parameters of addresses that are in the log of their request."""
log = logging.getLogger(__name__)


def identify(edge: AppContext, credentials: Credentials) -> Principal | None:
    """The principal of a cookie's session or of a token, read from the database, so that both end at once.

    One statement without a transaction. None if there is no such session or token. Raises Unavailable.
    """
    project, strict = credentials.project, credentials.strict
    if credentials.service:
        with single_statements(edge.factory) as connection:
            return sign_in.service_principal(connection, project, strict=strict)
    by_token = credentials.bearer or credentials.token_hash
    return _by_token(edge, credentials) if by_token else _by_cookie(edge, credentials)


def redeem(edge: AppContext, ticket: str, path: str) -> Credentials | None:
    """The credentials that the ticket of a stream stands for, once; None if it opens nothing. Raises Unavailable."""
    with unit_of_work(edge.factory) as session:
        credential = stream_tickets.redeem(session, ticket, path)
    if credential is None:
        return None
    return Credentials(
        cookie="",
        bearer="",
        project=credential.project,
        strict=True,
        service=credential.kind == "service",
        session_hash=credential.hash if credential.kind == "session" else "",
        token_hash=credential.hash if credential.kind == "token" else "",
    )


def credential_of(request: Request) -> Credential:
    """Credential of a request, as a ticket stores it."""
    credentials: Credentials = request.state.credentials
    project = request.state.principal.project
    if credentials.service or not (credentials.bearer or credentials.cookie):
        return Credential("service", "", project)
    kind = "token" if credentials.bearer else "session"
    return Credential(kind, token_hash(credentials.bearer or credentials.cookie), project)


async def is_still_signed_in(edge: AppContext, request: Request) -> bool:
    """Whether the session or token of a long answer is still in force; without the database it is taken to be."""
    if not edge.settings.accounts:
        return True
    try:
        principal = await edge.identified(lambda: identify(edge, request.state.credentials))
    except Unavailable:
        return True
    return principal is not None and principal.may_keep_open(request.state.principal)


def _by_token(edge: AppContext, credentials: Credentials) -> Principal | None:
    if not credentials.token_hash and not access_tokens.looks_like_one(credentials.bearer):
        return None
    named = credentials.project if credentials.strict else ""
    with single_statements(edge.factory) as connection:
        access = access_tokens.principal_of_hash(
            connection, credentials.token_hash or token_hash(credentials.bearer), named
        )
    if access is None:
        return None
    principal, token_id, is_idle = access
    if is_idle:
        with unit_of_work(edge.factory) as session:
            access_tokens.mark_used(session, token_id)
    return principal


def _by_cookie(edge: AppContext, credentials: Credentials) -> Principal | None:
    with single_statements(edge.factory) as connection:
        project, strict = credentials.project, credentials.strict
        if credentials.session_hash:
            person = sign_in.principal_of_session(connection, credentials.session_hash, project, strict=strict)
        else:
            person = sign_in.principal_of_cookie(connection, credentials.cookie, project, strict=strict)
    if person is None:
        return None
    principal, is_idle = person
    if is_idle and principal.session_id:
        with unit_of_work(edge.factory) as session:
            sign_in.mark_used(session, principal.session_id)
    return principal


def authorize(connection: HTTPConnection) -> None:
    """Dependency of every route: refuses those whose role does not cover what the route needs.

    Raises:
        NotAllowed: see `Principal.require`; a websocket is refused before it opens.
    """
    scope = connection.scope
    method = scope["method"] if scope["type"] == "http" else "WS"
    principal: Principal = connection.state.principal
    scope["state"][TEMPLATE] = scope["route"].path
    params = scope.get("path_params", {})
    add_log_ids(**{name: params[name] for name in LOGGED if name in params})
    try:
        _check(principal, need_of(method, scope["route"].path))
    except NotAllowed as error:
        if scope["type"] == "http":
            raise
        raise WebSocketException(1008, error.message[:120]) from error


async def authorized(connection: HTTPConnection) -> None:
    """`authorize` as a dependency, which waits for no thread."""
    authorize(connection)


def _check(principal: Principal, need: Need) -> None:
    if need.role is not None:
        principal.require(need.role)
    if need.admin:
        principal.require_admin()


def announce_first_link(edge: AppContext) -> None:
    """Writes the first administrator's one-time link to the log and a file, if no account has a password yet."""
    file = edge.settings.data_dir / FIRST_LINK_FILE
    try:
        with unit_of_work(edge.factory) as session:
            token = users.first_link(session)
    except DeskarenaError as error:
        log.warning("the link of the first administrator could not be created: %s", error.text)
        return
    if token is None:
        return
    path = edge.sub_path.address(f"{JOIN_PATH}{token}")
    log.warning("First sign-in (once, within 24 hours): open %s at this service's address", path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        stream.write(f"{path}\n")
