"""`/configurations` and `/configurations/{id}`: who acts, under which name, with which results."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import Form, Request
from fastapi.responses import HTMLResponse, Response
from sqlalchemy.orm import Session

from backend.domain.errors import Conflict, DeskarenaError, Invalid
from backend.services.configurations import configurations as service
from backend.services.configurations.definitions import LONGEST_NAME
from backend.services.configurations.views import HEAD, configuration_row, table_row
from backend.services.results.views.configuration import TREND_HEAD, configuration_page, trend_rows
from backend.web.dependencies import ProjectDep, SessionDep
from backend.web.page_common import (
    Cursor,
    Id,
    OrderDep,
    Text,
    is_later_page,
    known_order,
    next_page,
    page_router,
    redirect,
)
from backend.web.table_files import TableDep
from backend.web.templating import render

router = page_router()
PAGE = 500


@router.get("/configurations")
def configurations(  # noqa: PLR0913 - one parameter per part of the address
    request: Request,
    session: SessionDep,
    project: ProjectDep,
    *,
    order: OrderDep,
    q: Text = "",
    after: Cursor = None,
) -> HTMLResponse:
    """The searchable list of configurations."""
    order = known_order(order, service.COLUMNS)
    page = service.list_configurations(session, project, words=q, cursor=after.hex if after else None, order=order)
    values: dict[str, Any] = {"rows": [configuration_row(row) for row in page.items], "q": q, "by": service.COLUMNS}
    values |= {"next": next_page(order, after=page.next), "begun": is_later_page(order, after)}
    return render(request, "configurations.html", values)


@router.get("/configurations.csv")
def table(session: SessionDep, project: ProjectDep, write: TableDep, q: Text = "") -> Response:
    """Configurations as a table."""
    rows, cursor = [], None
    while True:
        page = service.list_configurations(session, project, words=q, cursor=cursor, limit=PAGE)
        rows += [table_row(configuration_row(row)) for row in page.items]
        cursor = page.next
        if cursor is None:
            return write("configurations", HEAD, rows)


@router.get("/configurations/{configuration_id}/trend.csv")
def trend(session: SessionDep, write: TableDep, configuration_id: Id, *, agent: bool = False) -> Response:
    """The points of its trends; `agent`: of all configurations of its agent."""
    return write("trend", TREND_HEAD, list(trend_rows(session, configuration_id, of_agent=agent)))


@router.get("/configurations/{configuration_id}")
def configuration(request: Request, session: SessionDep, configuration_id: Id) -> HTMLResponse:
    return show(request, session, configuration_id)


def show(
    request: Request, session: Session, configuration_id: UUID, error: DeskarenaError | None = None
) -> HTMLResponse:
    """The page, with an error if there is one."""
    values = {"page": configuration_page(session, configuration_id), "error": error, "longest": LONGEST_NAME}
    return render(request, "configuration.html", values, status=error.status if error else 200)


@router.post("/configurations/{configuration_id}/name")
def rename(request: Request, session: SessionDep, configuration_id: Id, name: Annotated[str, Form()] = "") -> Response:
    """Gives it a name; an empty one restores the default."""
    try:
        service.rename(session, configuration_id, name)
    except (Invalid, Conflict) as error:
        session.rollback()
        return show(request, session, configuration_id, error)
    return redirect(f"/configurations/{configuration_id}")
