"""Every error as `application/problem+json`, or as a page for browsers."""

import errno
import logging
import tempfile
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match, Route

from backend.db.session import is_away
from backend.domain.errors import DeskarenaError, Invalid, NoRoom, Unavailable
from backend.domain.model.validation_words import problem_words
from backend.services.read_model import FieldProblem
from backend.web.headers import headers_of
from backend.web.problem import PROBLEM_TYPE, Problem

log = logging.getLogger(__name__)
ERRORS_PAGE = "/docs/errors.html"
RETRY_SECONDS = "3"
_ENDPOINTS = "/docs/api-reference lists every endpoint."
_ROUTE_CODES = {404: "page_not_found", 405: "method_not_allowed"}
_NOT_FOUND = HTTPStatus.NOT_FOUND.phrase
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


HEADINGS = {
    400: "The request could not be read",
    401: "Sign in first",
    403: "Not allowed",
    404: "Not found",
    405: "This page cannot do that",
    409: "Not possible at the moment",
    410: "No longer available",
    412: "Changed in the meantime",
    413: "Too large",
    415: "Content type not supported",
    422: "Please check what you entered",
    428: "State not named",
    429: "Too many requests",
    503: "Not available at the moment",
    507: "Disk full",
}
HEADINGS_BY_CODE = {
    "host_not_allowed": "Deskarena does not know this address",
    "origin_not_allowed": "Another site may not do this",
}
"""Heading of an error's page."""
NEXT_STEPS = {
    403: "Ask the operator of this installation for access.",
    404: "It may have been deleted, or the address is incomplete. Search for its name, or start from a list.",
    405: "Go back and use the buttons of the page.",
    409: "Reload the page to see its present state, then try again.",
    422: "Go back and correct the value.",
    503: "Nothing is lost. This page tries again by itself.",
}
"""Hints by status, for errors without one of their own."""


class TooLarge(DeskarenaError):
    """The request's body is over the limit (413)."""

    status = 413
    code = "request_too_large"


class NoSuchPage(DeskarenaError):
    """The address does not exist, or does not support the method."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message, code=_ROUTE_CODES.get(status, "bad_request"), hint=_ENDPOINTS)
        self.status = status


def no_room(error: BaseException | None) -> NoRoom | None:
    """Message for an upload without room in the temporary folder; None for any other error."""
    if not isinstance(error, OSError) or error.errno not in _FULL:
        return None
    return NoRoom(
        f"disk full: no room for what was sent in {tempfile.gettempdir()}",
        hint="Free some space there, or start the service with TMPDIR naming another folder; then send it again.",
    )


def problem(error: DeskarenaError, errors: Sequence[FieldProblem] = ()) -> Problem:
    """Problem details (RFC 9457) of an error."""
    return Problem(
        type=f"{ERRORS_PAGE}#{error.code}",
        title=HTTPStatus(error.status).phrase,
        status=error.status,
        code=error.code,
        detail=error.message,
        hint=error.hint,
        path=getattr(error, "path", ""),
        errors=list(errors),
    )


def problem_response(error: DeskarenaError, errors: Sequence[FieldProblem] = ()) -> Response:
    """The JSON form of an error."""
    body = problem(error, errors).model_dump(mode="json")
    usual = RETRY_SECONDS if error.status == HTTPStatus.SERVICE_UNAVAILABLE else None
    seconds = getattr(error, "retry_after", usual)
    headers = {"Retry-After": str(seconds)} if seconds else None
    return JSONResponse(body, status_code=error.status, media_type=PROBLEM_TYPE, headers=headers)


def path_of(location: Sequence[Any]) -> str:
    """`("body", "budget", "max_steps")` as `budget.max_steps`; other locations keep their name: `query.limit`."""
    parts = [str(part) for part in location]
    return ".".join(parts[1:] if parts[:1] == ["body"] else parts)


def from_validation(error: RequestValidationError) -> tuple[Invalid, list[FieldProblem]]:
    """The error of a request that violates its schema, with all wrong fields."""
    fields = [FieldProblem(path=path_of(item["loc"]), message=problem_words(item)) for item in error.errors()]
    first = fields[0] if fields else FieldProblem(path="", message="the request is not valid")
    return Invalid(first.message, code="invalid_request", path=first.path), fields


def _is_of_path(error: RequestValidationError) -> bool:
    """Whether a part of the address, such as an id, is not one that any page has."""
    return any(item["loc"][:1] == ("path",) for item in error.errors())


def to_deskarena_error(error: Exception) -> DeskarenaError:
    """Maps any error to ours. Unexpected ones are logged with their trace and reported without details."""
    if isinstance(error, DeskarenaError):
        return error
    if isinstance(error, HTTPException):
        if error.status_code == TooLarge.status:
            return TooLarge(str(error.detail))
        # FastAPI reports a body that could not be stored as malformed (400).
        detail = "nothing is at this address" if error.detail == _NOT_FOUND else str(error.detail)
        return no_room(error.__cause__) or NoSuchPage(error.status_code, detail)
    if is_away(error):
        log.warning("the database does not answer: %s", str(error).splitlines()[0])
        return Unavailable(
            "the database is unavailable",
            code="database_unavailable",
            hint="Try again in a few seconds; nothing is lost.",
        )
    log.error("unexpected error", exc_info=error)
    return DeskarenaError(
        "an unexpected error occurred in the service",
        code="internal_error",
        hint="See the server's log.",
    )


def allowed_methods(routes: Sequence[BaseRoute], request: Request) -> str:
    """The methods of the request's address, for the header `Allow`."""
    matching = [
        route for route in routes if isinstance(route, Route) and route.matches(request.scope)[0] is Match.PARTIAL
    ]
    methods = {method for route in matching for method in route.methods or ()} or {"GET"}
    return ", ".join(sorted(methods | {"OPTIONS"} | ({"HEAD"} if "GET" in methods else set())))


def wants_page(request: Request) -> bool:
    """True for a browser's request for a page; programs and the API get JSON."""
    if request.url.path.startswith(("/api/", "/healthz", "/livez", "/readyz", "/static/")):
        return False
    return "text/html" in request.headers.get("accept", "")


def error_page(error: Problem) -> dict[str, object]:
    """Values for `error.html`. Hints about endpoints are for programs."""
    of_programs = error.code in _ROUTE_CODES.values()
    next_step = NEXT_STEPS.get(error.status, "") if of_programs or not error.hint else error.hint
    return {
        "problem": error,
        "title": HTTPStatus(error.status).phrase,
        "heading": HEADINGS_BY_CODE.get(error.code) or HEADINGS.get(error.status, "Something went wrong"),
        "next_step": next_step or "Go back and try again; if it happens again, see the server's log.",
    }


def refusal_page(error: DeskarenaError) -> Response:
    """The page of an error for a request that gets nothing else of the service, not even a style sheet."""
    from backend.web.templating import environment

    text = environment().get_template("refused.html").render(error_page(problem(error)))
    return HTMLResponse(text, status_code=error.status)


def install(app: FastAPI, routes: Sequence[BaseRoute] = (), embed_origins: Sequence[str] = ()) -> None:
    """Registers the handlers on an application; `routes` are those of its routers, `embed_origins` the setting."""

    async def handle(request: Request, error: Exception) -> Response:
        fields: list[FieldProblem] = []
        ours: DeskarenaError
        if isinstance(error, RequestValidationError) and wants_page(request) and _is_of_path(error):
            ours = NoSuchPage(HTTPStatus.NOT_FOUND, HTTPStatus.NOT_FOUND.phrase)
        elif isinstance(error, RequestValidationError):
            ours, fields = from_validation(error)
        else:
            ours = to_deskarena_error(error)
        if wants_page(request):
            from backend.web.templating import render

            page = error_page(problem(ours, fields))
            response: Response = render(request, "error.html", page, status=ours.status)
        else:
            response = problem_response(ours, fields)
        if ours.status == HTTPStatus.METHOD_NOT_ALLOWED:
            response.headers["Allow"] = allowed_methods(routes, request)
        # Unexpected errors bypass the security middleware, which normally sets these.
        for name, value in headers_of(request.url.path, embed_origins).items():
            response.headers.setdefault(name, value)
        return response

    for kind in (DeskarenaError, HTTPException, RequestValidationError, DBAPIError, PoolTimeout, Exception):
        app.add_exception_handler(kind, handle)
