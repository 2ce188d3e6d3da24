"""`/login`: exchanges the token for a browser cookie."""

import hmac
from typing import Annotated

from fastapi import Form, Query, Request
from fastapi.responses import HTMLResponse, Response

from backend.web.dependencies import EdgeDep
from backend.web.page_common import page_router, redirect
from backend.web.security_middleware import COOKIE, session_value
from backend.web.templating import render

router = page_router()
MONTH = 30 * 24 * 3600


def inside(address: str) -> str:
    """`address` if it is a path of this service, else the first page, so that links cannot redirect elsewhere."""
    plain = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if plain and address.isprintable() else "/"


@router.get("/login")
def ask(request: Request, following: Annotated[str, Query(alias="next", max_length=500)] = "/") -> HTMLResponse:
    return render(request, "login.html", {"following": inside(following), "wrong": False})


@router.post("/login")
def enter(
    request: Request,
    edge: EdgeDep,
    token: Annotated[str, Form(max_length=500)],
    following: Annotated[str, Form(alias="next", max_length=500)] = "/",
) -> Response:
    """Checks the token and sets the cookie."""
    secret = edge.settings.token.get_secret_value() if edge.settings.token else None
    if secret is not None and not hmac.compare_digest(token.strip().encode(), secret.encode()):
        return render(request, "login.html", {"following": inside(following), "wrong": True}, status=401)
    answer = redirect(inside(following))
    if secret is not None:
        secure = request.url.scheme == "https"
        answer.set_cookie(COOKIE, session_value(secret), max_age=MONTH, httponly=True, samesite="strict", secure=secure)
    return answer


@router.post("/logout")
def leave() -> Response:
    answer = redirect("/login")
    answer.delete_cookie(COOKIE)
    answer.headers["Clear-Site-Data"] = '"cache"'  # Pages that the browser keeps are gone, too.
    return answer
