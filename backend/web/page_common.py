"""What page routes share: a router that keeps out of OpenAPI, ids from addresses, a form's changes and its end."""

from collections.abc import Mapping
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


def changed_fields(fields: Mapping[str, str], shown: Mapping[str, str]) -> dict[str, str]:
    """What a form changes: those of its fields that differ from what it had shown.

    A form stays as it is while its page is open, and posts all its fields: those that nobody touched would take back
    what another person has changed meanwhile.

    Args:
        fields: those of the form as they are posted.
        shown: the same names with what stood in them.
    """
    return {name: value.strip() for name, value in fields.items() if value.strip() != shown[name].strip()}


def redirect(address: str) -> RedirectResponse:
    """After a form: look at this address. Reloading it posts nothing again."""
    return RedirectResponse(address, status_code=303)
