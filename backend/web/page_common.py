"""Shared parts of page routes: a router outside OpenAPI, ids from addresses, and forms."""

from collections.abc import Mapping
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query
from fastapi.responses import RedirectResponse


def page_router() -> APIRouter:
    """Pages are not part of the API: they are left out of the OpenAPI document."""
    return APIRouter(include_in_schema=False)


Id = Annotated[UUID, Path()]
Cursor = Annotated[UUID | None, Query()]
Text = Annotated[str, Query(max_length=200)]


def changed_fields(fields: Mapping[str, str], shown: Mapping[str, str]) -> dict[str, str]:
    """The changes in a form: fields that differ from their previous values.

    A form posts all its fields as of when its page was loaded: unchanged ones could revert other people's changes.

    Args:
        fields: the posted fields.
        shown: the same fields with their previous values.
    """
    return {name: value.strip() for name, value in fields.items() if value.strip() != shown[name].strip()}


def redirect(address: str) -> RedirectResponse:
    """Redirects after a form, so that reloading does not post again."""
    return RedirectResponse(address, status_code=303)
