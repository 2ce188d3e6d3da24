"""`/login`, `/logout` and one-time links: browsers get the cookie of a session, or of the installation's token."""

import hmac
from typing import Annotated
from urllib.parse import urlencode, urlsplit

from fastapi import Form, Path, Query, Request
from fastapi.responses import HTMLResponse, Response

from backend.addresses import FIRST_LINK_FILE, JOIN_PATH
from backend.db.session import unit_of_work
from backend.domain.errors import DeskarenaError, Invalid
from backend.services.accounts import passwords, sign_in, users
from backend.services.accounts.principal import bind
from backend.web.dependencies import AppContext, EdgeDep, SessionDep
from backend.web.page_common import page_router, redirect
from backend.web.security_middleware import COOKIE, session_value
from backend.web.templating import render

router = page_router()
MONTH = 30 * 24 * 3600
Password = Annotated[str, Form(max_length=500)]
Following = Annotated[str, Form(alias="next", max_length=500)]
Link = Annotated[str, Path(max_length=100)]


class AccountsOff(DeskarenaError):
    """The installation has no accounts, or not what the page needs (404)."""

    status = 404
    code = "accounts_off"


def inside(address: str) -> str:
    """`address` if it is a path of this service, else the first page, so that links cannot redirect elsewhere."""
    plain = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if plain and address.isprintable() else "/"


def set_cookie(request: Request, answer: Response, value: str) -> None:
    """Gives the browser the cookie of a session."""
    secure = request.url.scheme == "https"
    answer.set_cookie(COOKIE, value, max_age=MONTH, httponly=True, samesite="strict", secure=secure)


def browser_of(request: Request) -> str:
    """Name that the browser gives itself."""
    return request.headers.get("user-agent", "")


def link_address(request: Request, token: str) -> str:
    """The whole address of a one-time link."""
    path = request.app.state.edge.sub_path.address(f"{JOIN_PATH}{token}")
    return f"{request.url.scheme}://{request.url.netloc}{path}"


def login_page(  # noqa: PLR0913 - what it shows
    request: Request,
    edge: AppContext,
    following: str,
    *,
    wrong: bool = False,
    name: str = "",
    problem: str = "",
    status: int = 200,
) -> HTMLResponse:
    """The page for signing in: `wrong` after a wrong password, `problem` after a failure at the OpenID provider."""
    issuer = edge.settings.oidc_issuer if edge.settings.accounts else ""
    values = {
        "following": inside(following),
        "provider": issuer and (edge.settings.oidc_name or urlsplit(issuer).hostname),
        "provider_address": f"/login/oidc?{urlencode({'next': inside(following)})}",
        "wrong": wrong,
        "name": name,
        "problem": problem,
    }
    return render(request, "login.html", values, status=status)


@router.get("/login")
def ask(
    request: Request, edge: EdgeDep, following: Annotated[str, Query(alias="next", max_length=500)] = "/"
) -> HTMLResponse:
    return login_page(request, edge, following)


@router.post("/login")
def enter(  # noqa: PLR0913 - the form's fields
    request: Request,
    edge: EdgeDep,
    *,
    token: Password = "",
    name: Annotated[str, Form(max_length=200)] = "",
    password: Password = "",
    following: Following = "/",
) -> Response:
    """Checks name and password, or the token, and sets the cookie."""
    answer = redirect(inside(following))
    cookie = _new_session(request, edge, name, password) if edge.settings.accounts else _token_cookie(edge, token)
    if cookie is None:
        return login_page(request, edge, following, wrong=True, name=name, status=401)
    if cookie:
        set_cookie(request, answer, cookie)
    return answer


@router.post("/logout")
def leave(request: Request, edge: EdgeDep) -> Response:
    """Ends the session and removes its cookie."""
    if edge.settings.accounts:
        with unit_of_work(edge.factory) as session:
            bind(session, request.state.principal)
            sign_in.sign_out(session)
    answer = redirect("/login")
    answer.delete_cookie(COOKIE)
    answer.headers["Clear-Site-Data"] = '"cache"'  # Pages that the browser keeps are gone, too.
    return answer


@router.get("/join/{token}")
def join(request: Request, session: SessionDep, token: Link) -> HTMLResponse:
    """Asks the person of a one-time link for a password."""
    page = {"name": users.link_owner(session, token), "problem": "", "least": passwords.LEAST}
    return render(request, "join.html", page)


@router.post("/join/{token}")
def choose_password(request: Request, edge: EdgeDep, token: Link, password: Password, repeated: Password) -> Response:
    """Sets the password and signs the person in."""
    try:
        with unit_of_work(edge.factory) as session:
            bind(session, request.state.principal)
            passwords.require_same(password, repeated)
            user = users.set_first_password(session, token, password)
            cookie = sign_in.start_session(session, user, user_agent=browser_of(request))
    except Invalid as error:
        with unit_of_work(edge.factory) as session:
            page = {"name": users.link_owner(session, token), "problem": error.text_at_field, "least": passwords.LEAST}
        return render(request, "join.html", page, status=422)
    (edge.settings.data_dir / FIRST_LINK_FILE).unlink(missing_ok=True)
    answer = redirect("/")
    set_cookie(request, answer, cookie)
    return answer


def _new_session(request: Request, edge: AppContext, name: str, password: str) -> str | None:
    """The cookie of a new session; ends the browser's old one. None if name or password are wrong."""
    with unit_of_work(edge.factory) as session:  # Kept even if the password is wrong: failures count.
        bind(session, request.state.principal)
        user = sign_in.sign_in(session, name, password)
        if user is None:
            return None
        sign_in.sign_out(session)
        return sign_in.start_session(session, user, user_agent=browser_of(request))


def _token_cookie(edge: AppContext, token: str) -> str | None:
    """The cookie that proves the installation's token; empty if there is none, None if it is wrong."""
    secret = edge.token()
    if not secret:
        return ""
    return session_value(secret) if hmac.compare_digest(token.strip().encode(), secret.encode()) else None
