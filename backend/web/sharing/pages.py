"""`/leaderboards/{benchmark}/sharing`: saved views of a board, and public links to it."""

from typing import Annotated

from fastapi import Form, Request
from fastapi.responses import HTMLResponse, Response
from sqlalchemy.orm import Session

from backend.domain.errors import Conflict, DeskarenaError, Invalid
from backend.services.benchmarks.benchmarks import get_benchmark
from backend.services.results.board_query import checked_query, query_of_text, stored_query
from backend.services.sharing import public_links, saved_views
from backend.services.sharing.public_links import NewPublicLink
from backend.services.sharing.views.badges import badge_rows
from backend.web.dependencies import SessionDep
from backend.web.page_common import Id, page_router, redirect
from backend.web.templating import render

router = page_router()
Text = Annotated[str, Form(max_length=8000)]


@router.get("/leaderboards/{benchmark}/sharing")
def sharing(request: Request, session: SessionDep, benchmark: str) -> HTMLResponse:
    """The view in the address: links to it, and its saved neighbours."""
    return show(request, session, benchmark, request.url.query)


def show(  # noqa: PLR0913 - what the page has, and what became of a form
    request: Request,
    session: Session,
    benchmark: str,
    text: str,
    *,
    error: DeskarenaError | None = None,
    new_link: NewPublicLink | None = None,
) -> HTMLResponse:
    """The page for a board's query, with an error or a new link if there is one."""
    stored = stored_query(query_of_text(text))[0]
    values = {
        "benchmark": get_benchmark(session, benchmark).name,
        "text": stored.text,
        "views": saved_views.list_views(session, benchmark),
        "links": public_links.list_links(session, benchmark),
        "longest_name": saved_views.LONGEST_NAME,
        "longest_title": public_links.LONGEST_TITLE,
        "embed_origins": request.app.state.edge.settings.embed_origins,
        "site": f"{request.base_url}".rstrip("/") + request.app.state.edge.sub_path.root,
        "new_link": new_link,
        "badges": badge_rows(session, benchmark, stored) if new_link else [],
        "error": error,
    }
    return render(request, "sharing.html", values, status=error.status if error else 200)


@router.post("/leaderboards/{benchmark}/views")
def save(request: Request, session: SessionDep, benchmark: str, name: Text = "", query: Text = "") -> Response:
    """Saves a view and opens it."""
    try:
        view = saved_views.save_view(session, benchmark, name, query_of_text(query))
    except (Invalid, Conflict) as error:
        session.rollback()
        return show(request, session, benchmark, query, error=error)
    return redirect(view.address)


@router.post("/leaderboards/{benchmark}/views/{view_id}")
def change(  # noqa: PLR0913 - a view of a board, and what may change
    request: Request,
    session: SessionDep,
    benchmark: str,
    view_id: Id,
    *,
    name: Annotated[str | None, Form(max_length=8000)] = None,
    query: Annotated[str | None, Form(max_length=8000)] = None,
) -> Response:
    """Renames a view, or replaces what it shows."""
    try:
        values = None if query is None else query_of_text(query)
        saved_views.change_view(session, view_id, name=name, query=values)
    except (Invalid, Conflict) as error:
        session.rollback()
        return show(request, session, benchmark, query or "", error=error)
    return redirect(f"/leaderboards/{benchmark}/sharing{f'?{checked_query(values).text}' if values else ''}")


@router.post("/leaderboards/{benchmark}/views/{view_id}/delete")
def delete(session: SessionDep, benchmark: str, view_id: Id) -> Response:
    saved_views.delete_view(session, view_id)
    return redirect(f"/leaderboards/{benchmark}/sharing")


@router.post("/leaderboards/{benchmark}/links")
def create_link(  # noqa: PLR0913 - one parameter per field of the form
    request: Request, session: SessionDep, benchmark: str, *, title: Text = "", query: Text = "", days: Text = "30"
) -> Response:
    """Creates a public link and shows it, this once."""
    try:
        number = int(days) if days.isdecimal() else 0
        link = public_links.create_link(session, benchmark, query_of_text(query), days=number, title=title)
    except Invalid as error:
        session.rollback()
        return show(request, session, benchmark, query, error=error)
    return show(request, session, benchmark, query, new_link=link)


@router.post("/leaderboards/{benchmark}/links/{link_id}/revoke")
def revoke_link(session: SessionDep, benchmark: str, link_id: Id) -> Response:
    public_links.revoke_link(session, link_id)
    return redirect(f"/leaderboards/{benchmark}/sharing")
