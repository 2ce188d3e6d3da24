"""What page routes share: a router that keeps out of OpenAPI, ids from addresses, redirects after a form."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query
from fastapi.responses import RedirectResponse


def page_router() -> APIRouter:
    """Pages are no API: they are left out of the OpenAPI document."""
    return APIRouter(include_in_schema=False)


Id = Annotated[UUID, Path()]
Cursor = Annotated[UUID | None, Query()]
Text = Annotated[str, Query(max_length=200)]


def see(address: str) -> RedirectResponse:
    """After a form: look at this address. Reloading it posts nothing again."""
    return RedirectResponse(address, status_code=303)
