"""Shared parts of API routes: request bodies, list parameters, links to next pages, documented errors."""

from collections.abc import Sequence
from typing import Annotated, Any, Generic, TypeVar
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from backend.addresses import API
from backend.services.read_model import ReadModel
from backend.web.api_route import ApiRoute
from backend.web.problem import PROBLEM_TYPE

T = TypeVar("T")
Id = Annotated[UUID, Path(examples=["018f0000-0000-7000-8000-000000000000"])]
Name = Annotated[str, Path(min_length=1, max_length=100, examples=["starter"])]
Cursor = Annotated[str | None, Query(max_length=200, description="From `next` of the part before.")]
Limit = Annotated[int, Query(ge=1, le=500, description="Items at most.")]
Word = Annotated[str | None, Query(max_length=100)]
Where = Annotated[
    Sequence[Annotated[str, Field(max_length=120)]],
    Query(max_length=100, description="`label=value`: only tasks with these labels (repeatable)."),
]


class RequestModel(BaseModel):
    """A request body: an unknown field is an error, so that typos are reported."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Page(ReadModel, Generic[T]):
    """A page of a list. `next` is the address of the next page, or null."""

    items: list[T]
    next: str | None = Field(default=None, examples=["/api/v1/runs?limit=50&cursor=eyJ..."])


ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"description": description, "content": {PROBLEM_TYPE: {}}}
    for status, description in {
        400: "The body cannot be read.",
        401: "The token is missing or wrong.",
        403: "The Host or Origin is foreign.",
        404: "Not found.",
        405: "The address does not have this method.",
        409: "The state does not allow it.",
        413: "The body is too large.",
        415: "The body has another type.",
        422: "The request is wrong; `errors` names the fields.",
        429: "Too many requests.",
        503: "Database, broker or worker is unavailable.",
        507: "The disk has no room for the upload.",
    }.items()
}
"""Errors of all operations; `backend.web.openapi` removes impossible ones and adds the model.

A model here would be compiled again for each error of each route: a sixth of the service's start.
"""


def api_router(tag: str) -> APIRouter:
    """A router below /api/v1 whose errors are documented; see `ApiRoute` for what its routes share."""
    return APIRouter(prefix=API, tags=[tag], responses=ERRORS, route_class=ApiRoute)


def next_page_url(request: Request, cursor: str | None) -> str | None:
    """Address of the list's next page: the same query with another cursor."""
    if cursor is None:
        return None
    pairs = [(key, value) for key, value in request.query_params.multi_items() if key != "cursor"]
    return f"{request.url.path}?{urlencode([*pairs, ('cursor', cursor)])}"
