"""Saved views of boards, and public links to them."""

from typing import Annotated, Any

from fastapi import Query, Response
from pydantic import Field

from backend.addresses import API
from backend.services.sharing import public_links, saved_views
from backend.services.sharing.public_links import MOST_DAYS, USUAL_DAYS, NewPublicLink, PublicLinkView
from backend.services.sharing.saved_views import LONGEST_NAME, SavedBoardView
from backend.web.api_common import Id, Page, RequestModel, api_router
from backend.web.dependencies import SessionDep
from backend.web.preconditions import EDITED, IfMatch, check_match, tagged

router = api_router("sharing")
Benchmark = Annotated[str | None, Query(max_length=100, description="Only of this one.", examples=["starter"])]
Chosen = Annotated[
    dict[str, Any],
    Field(description="The query of the board's address, with the reader's choices.", examples=[{"sort": "steps"}]),
]


class ViewBody(RequestModel):
    """A view to save."""

    benchmark: str = Field(max_length=100, examples=["starter"])
    name: str = Field(max_length=LONGEST_NAME, examples=["50 steps, by cost"])
    query: Chosen = Field(default={})


class ViewChange(RequestModel):
    """Changes to a view; null leaves a field unchanged."""

    name: str | None = Field(default=None, max_length=LONGEST_NAME)
    query: Chosen | None = None


class LinkBody(RequestModel):
    """A view to open to everybody who has the link."""

    benchmark: str = Field(max_length=100, examples=["starter"])
    query: Chosen = Field(default={})
    days: int = Field(default=USUAL_DAYS, ge=1, le=MOST_DAYS, description="Until it expires.")
    title: str = Field(default="", max_length=public_links.LONGEST_TITLE, description="For the list.")


@router.get("/saved-views")
def list_views(session: SessionDep, benchmark: Benchmark = None) -> Page[SavedBoardView]:
    """List saved views of boards, by name."""
    return Page[SavedBoardView](items=saved_views.list_views(session, benchmark))


@router.post("/saved-views", status_code=201)
def save_view(session: SessionDep, body: ViewBody, response: Response) -> SavedBoardView:
    """Save a view of a board under a name that is unique for its benchmark."""
    view = saved_views.save_view(session, body.benchmark, body.name, body.query)
    response.headers["Location"] = f"{API}/saved-views/{view.id}"
    return tagged(response, view)


@router.get("/saved-views/{view_id}")
def get_view(session: SessionDep, view_id: Id) -> SavedBoardView:
    """Show a saved view."""
    return saved_views.get_view(session, view_id)


@router.patch("/saved-views/{view_id}", responses=EDITED)
def change_view(
    session: SessionDep, view_id: Id, body: ViewChange, response: Response, if_match: IfMatch = None
) -> SavedBoardView:
    """Rename a saved view, or replace its query. Safe to repeat."""
    check_match(if_match, lambda: saved_views.get_view(session, view_id, lock=True))
    return tagged(response, saved_views.change_view(session, view_id, name=body.name, query=body.query))


@router.delete("/saved-views/{view_id}", status_code=204)
def delete_view(session: SessionDep, view_id: Id) -> None:
    """Delete a saved view. Safe to repeat."""
    saved_views.delete_view(session, view_id)


@router.get("/public-links")
def list_links(session: SessionDep, benchmark: Benchmark = None) -> Page[PublicLinkView]:
    """List public links, newest first, ended ones too."""
    return Page[PublicLinkView](items=public_links.list_links(session, benchmark))


@router.post("/public-links", status_code=201)
def create_link(session: SessionDep, body: LinkBody) -> NewPublicLink:
    """Open a view of a board to everybody who has the link. Its token is in this response only."""
    return public_links.create_link(session, body.benchmark, body.query, days=body.days, title=body.title)


@router.get("/public-links/{link_id}")
def get_link(session: SessionDep, link_id: Id) -> PublicLinkView:
    """Show a public link, without its token."""
    return public_links.get_link(session, link_id)


@router.delete("/public-links/{link_id}")
def revoke_link(session: SessionDep, link_id: Id) -> PublicLinkView:
    """Close a public link at once. Safe to repeat."""
    return public_links.revoke_link(session, link_id)
