"""What API routes share: parameters of lists, addresses of following parts, documented errors."""

from typing import Annotated, Any
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request

from backend.web.runs.schemas import Problem

BASE = "/api/v1"
Id = Annotated[UUID, Path(examples=["018f0000-0000-7000-8000-000000000000"])]
Name = Annotated[str, Path(min_length=1, max_length=100, examples=["starter"])]
Cursor = Annotated[str | None, Query(max_length=200, description="From `next` of the part before.")]
Limit = Annotated[int, Query(ge=1, le=500, description="Items at most.")]
Word = Annotated[str | None, Query(max_length=100)]

ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": words, "content": {"application/problem+json": {}}}
    for status, words in {
        401: "The service has a token and the request does not carry it.",
        403: "A foreign Host or Origin.",
        404: "There is no such thing.",
        409: "Its state forbids it.",
        422: "The request is wrong; `errors` names the fields.",
        503: "Database, broker or worker is away for now.",
    }.items()
}


def api_router(tag: str) -> APIRouter:
    """A router below /api/v1 whose errors are documented."""
    return APIRouter(prefix=BASE, tags=[tag], responses=ERRORS)


def next_page_url(request: Request, cursor: str | None) -> str | None:
    """The address of the next part of this list: the same question with another cursor."""
    if cursor is None:
        return None
    pairs = [(key, value) for key, value in request.query_params.multi_items() if key != "cursor"]
    return f"{request.url.path}?{urlencode([*pairs, ('cursor', cursor)])}"
