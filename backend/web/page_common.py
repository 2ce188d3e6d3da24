"""Shared parts of page routes: a router outside OpenAPI, ids from addresses, and forms."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query
from fastapi.responses import RedirectResponse

from backend.domain.model.sort_order import SortOrder


def page_router() -> APIRouter:
    """Pages are not part of the API: they are left out of the OpenAPI document."""
    return APIRouter(include_in_schema=False)


Id = Annotated[UUID, Path()]
Cursor = Annotated[UUID | None, Query()]
Text = Annotated[str, Query(max_length=200)]
MOST_PAGES = 2_000
"""Pages of a list in another order than its own."""


async def sort_order(sort: Text = "", page: Annotated[int, Query(ge=1, le=MOST_PAGES)] = 1) -> SortOrder | None:
    """The order in the address: `sort=-steps&page=2`; None is the list's own."""
    return SortOrder(sort.removeprefix("-"), sort.startswith("-"), page) if sort else None


OrderDep = Annotated[SortOrder | None, Depends(sort_order)]


def known_order(order: SortOrder | None, columns: Collection[str]) -> SortOrder | None:
    """The order, if the list can be sorted by its column; else None, the list's own."""
    return order if order is not None and order.column in columns else None


def is_later_page(order: SortOrder | None, cursor: UUID | None) -> bool:
    """Whether the page is not the list's first one."""
    return cursor is not None if order is None else order.page > 1


def next_page(order: SortOrder | None, *, of: str = "", **cursor: Any) -> dict[str, Any] | None:
    """Query of the next page: its number, or the cursor; None on the last page (no cursor).

    Args:
        order: of the list.
        of: prefix of the list's names in the address, such as `offline.`.
        cursor: by its name.
    """
    if not any(cursor.values()):
        return None
    state = cursor if order is None else {"page": order.page + 1}
    return {f"{of}{name}": value for name, value in state.items()}


def changed_fields(fields: Mapping[str, str], values_before: Mapping[str, str]) -> dict[str, str]:
    """The changes in a form: fields that differ from their previous values.

    A form posts all its fields as of when its page was loaded: unchanged ones could revert other people's changes.

    Args:
        fields: the posted fields.
        values_before: the same fields with their previous values.
    """
    return {name: value.strip() for name, value in fields.items() if value.strip() != values_before[name].strip()}


def redirect(address: str) -> RedirectResponse:
    """Redirects after a form, so that reloading does not post again."""
    return RedirectResponse(address, status_code=303)
