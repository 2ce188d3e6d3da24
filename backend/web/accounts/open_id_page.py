"""`/login/oidc`: to the OpenID provider and back."""

from typing import Annotated
from urllib.parse import quote

from fastapi import Query, Request
from fastapi.responses import HTMLResponse, Response

from backend.db.session import unit_of_work
from backend.domain.errors import NotAllowed, Unavailable
from backend.services.accounts import audit, open_id, sign_in
from backend.services.accounts.open_id import OpenIdClient, SignInAttempt
from backend.services.accounts.principal import bind
from backend.web.accounts.login_page import AccountsOff, browser_of, inside, login_page, set_cookie
from backend.web.dependencies import AppContext, EdgeDep
from backend.web.page_common import page_router, redirect
from backend.web.templating import render

router = page_router()
START, CALLBACK = "/login/oidc", "/login/oidc/callback"
ATTEMPT_COOKIE = "deskarena_sign_in"
ATTEMPT_SECONDS = 600
_PLAIN = "/?&=%:;+,@~#!$'()*"
Answered = Annotated[str, Query(max_length=4000)]


@router.get(START)
def start(
    request: Request, edge: EdgeDep, following: Annotated[str, Query(alias="next", max_length=500)] = "/"
) -> Response:
    """Sends the browser to the provider, where its person signs in."""
    client = _client(edge)
    try:
        address, attempt = client.begin(_callback(request), inside(following))
    except Unavailable as error:
        return login_page(request, edge, inside(following), problem=error.message, status=error.status)
    answer = redirect(address)
    # Lax: the provider's page leads back to us. Nothing else is in it than what this browser's own attempt needs.
    answer.set_cookie(
        ATTEMPT_COOKIE,
        attempt.packed(),
        max_age=ATTEMPT_SECONDS,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    return answer


@router.get(CALLBACK)
def finish(request: Request, edge: EdgeDep, *, state: Answered = "", code: Answered = "") -> HTMLResponse:
    """Signs in who comes back from the provider."""
    client, attempt = _client(edge), SignInAttempt.read(request.cookies.get(ATTEMPT_COOKIE, ""))
    following = inside(attempt.following) if attempt else "/"
    more = {name: request.query_params[name][:4000] for name in ("iss", "error") if name in request.query_params}
    try:
        identity = client.finish(_callback(request), attempt, {"state": state, "code": code, **more})
        with unit_of_work(edge.factory) as session:
            bind(session, request.state.principal)
            sign_in.sign_out(session)
            user = open_id.sign_in(session, identity, client.rules)
            cookie = sign_in.start_session(session, user, user_agent=browser_of(request))
    except (NotAllowed, Unavailable) as error:
        _note_failure(request, edge, error)
        answer = login_page(request, edge, following, problem=error.text, status=error.status)
    else:
        # A page, not a redirect: browsers do not send a strict cookie along a chain that began at another site.
        answer = render(request, "signed_in.html", {"following": following})
        answer.headers["Refresh"] = f"0;url={quote(edge.sub_path.address(following), safe=_PLAIN)}"
        set_cookie(request, answer, cookie)
    answer.delete_cookie(ATTEMPT_COOKIE)
    answer.headers["Cache-Control"] = "no-store"
    return answer


def _note_failure(request: Request, edge: AppContext, error: NotAllowed | Unavailable) -> None:
    if isinstance(error, NotAllowed) and error.code != "sign_in_state":
        with unit_of_work(edge.factory) as session:
            bind(session, request.state.principal)
            audit.record(session, "sign_in_failed", error.message[:200])


def _client(edge: AppContext) -> OpenIdClient:
    if edge.open_id is None:
        raise AccountsOff("this service has no OpenID provider", hint="Set DESKARENA_OIDC_ISSUER.")
    return edge.open_id


def _callback(request: Request) -> str:
    path = request.app.state.edge.sub_path.address(CALLBACK)
    return f"{request.url.scheme}://{request.url.netloc}{path}"
