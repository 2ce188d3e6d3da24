"""Who makes a request, and whether the route lets them: the only way to every page, endpoint and websocket."""

import logging
import os

from fastapi import WebSocketException
from starlette.requests import HTTPConnection

from backend.addresses import FIRST_LINK_FILE, JOIN_PATH
from backend.db.session import single_statements, unit_of_work
from backend.domain.errors import DeskarenaError, NotAllowed
from backend.services.accounts import access_tokens, sign_in, users
from backend.services.accounts.principal import Principal
from backend.web.accounts.permissions import Need, need_of
from backend.web.dependencies import AppContext
from backend.web.security_middleware import Credentials

log = logging.getLogger(__name__)


def identify(edge: AppContext, credentials: Credentials) -> Principal | None:
    """Whose session a cookie is, or whom a token speaks for, read from the database, so that both end at once.

    One statement without a transaction. None if there is no such session or token. Raises Unavailable.
    """
    project, strict = credentials.project, credentials.strict
    if credentials.service:
        with single_statements(edge.factory) as connection:
            return sign_in.of_service(connection, project, strict=strict)
    return _by_token(edge, credentials) if credentials.bearer else _by_cookie(edge, credentials)


def _by_token(edge: AppContext, credentials: Credentials) -> Principal | None:
    if not access_tokens.looks_like_one(credentials.bearer):
        return None
    named = credentials.project if credentials.strict else ""
    with single_statements(edge.factory) as connection:
        access = access_tokens.of_bearer(connection, credentials.bearer, named)
    if access is None:
        return None
    principal, token_id, is_idle = access
    if is_idle:
        with unit_of_work(edge.factory) as session:
            access_tokens.mark_used(session, token_id)
    return principal


def _by_cookie(edge: AppContext, credentials: Credentials) -> Principal | None:
    with single_statements(edge.factory) as connection:
        person = sign_in.of_cookie(connection, credentials.cookie, credentials.project, strict=credentials.strict)
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
    try:
        _check(principal, need_of(method, scope["route"].path))
    except NotAllowed as error:
        if scope["type"] == "http":
            raise
        raise WebSocketException(1008, error.message[:120]) from error


def _check(principal: Principal, need: Need) -> None:
    if need.role is not None:
        principal.require(need.role)
    if need.admin:
        principal.require_admin()


def announce_first_link(edge: AppContext) -> None:
    """Writes the one-time link of the first administrator to the log and to a file, if nobody has a password yet."""
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
