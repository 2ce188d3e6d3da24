"""`/workers`: what this installation can run."""

from typing import Annotated

from fastapi import Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from backend.domain.scheduling.projects import read
from backend.services.capacity import licences
from backend.services.capacity.views import endpoints as endpoints_view
from backend.services.capacity.views import workers as workers_view
from backend.services.runs import scheduling_settings
from backend.web.dependencies import ActorDep, SessionDep
from backend.web.page_common import changed_fields, page_router, redirect
from backend.web.templating import render

router = page_router()


@router.get("/workers")
def workers(request: Request, session: SessionDep) -> HTMLResponse:
    """Nodes, slots, providers, agents, and the worker processes."""
    return render(
        request,
        "workers.html",
        {"page": workers_view.workers_page(session), "projects": scheduling_settings.list_projects(session)},
    )


@router.get("/endpoints")
def endpoints(request: Request, session: SessionDep, window: str = "24h") -> HTMLResponse:
    """Model endpoints: state, latency, errors, tokens and cost."""
    chosen = window if window in endpoints_view.WINDOWS else "24h"
    page = endpoints_view.endpoints_page(session, chosen)
    return render(request, "endpoints.html", {"page": page, "windows": list(endpoints_view.WINDOWS)})


@router.post("/workers/projects")
def set_rules(  # noqa: PLR0913 - the form's fields
    session: SessionDep,
    *,
    name: Annotated[str, Form()],
    weight: Annotated[str, Form()],
    quota: Annotated[str, Form()] = "",
    reserved: Annotated[str, Form()] = "",
    shown_weight: Annotated[str, Form()] = "",
    shown_quota: Annotated[str, Form()] = "",
    shown_reserved: Annotated[str, Form()] = "",
) -> RedirectResponse:
    """Changes a project's scheduling settings; unchanged fields stay."""
    shown = {"weight": shown_weight, "quota": shown_quota, "reserved": shown_reserved}
    changes = changed_fields({"weight": weight, "quota": quota, "reserved": reserved}, shown)
    rules = {rule: text if rule == "weight" else read(text, rule) for rule, text in changes.items()}
    scheduling_settings.set_rules(session, name, rules)
    return redirect("/workers#projects")


@router.post("/workers/licences")
def set_seats(
    session: SessionDep, actor: ActorDep, name: Annotated[str, Form()], seats: Annotated[int, Form()]
) -> RedirectResponse:
    """Sets the number of seats of a licence."""
    licences.set_seats(session, name, seats, actor)
    return redirect("/workers#licences")
