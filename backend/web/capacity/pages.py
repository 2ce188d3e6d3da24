"""`/workers`: what this installation can run."""

from typing import Annotated, Literal

from fastapi import Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from backend.domain.scheduling.projects import read
from backend.services.capacity import licences, maintenance_mode
from backend.services.capacity import workers as capacity
from backend.services.capacity.views import endpoints as endpoints_view
from backend.services.capacity.views import workers as workers_view
from backend.services.runs import scheduling_settings
from backend.web.dependencies import ActorDep, EdgeDep, SessionDep
from backend.web.page_common import Id, changed_fields, page_router, redirect
from backend.web.templating import render

router = page_router()


@router.get("/workers")
def workers(request: Request, session: SessionDep) -> HTMLResponse:
    """Nodes, slots, providers, agents, and the worker processes."""
    return render(
        request,
        "workers.html",
        {
            "page": workers_view.workers_page(session),
            "projects": scheduling_settings.list_projects(session),
            "mode": maintenance_mode.maintenance(session),
            "longest_reason": maintenance_mode.LONGEST_REASON,
        },
    )


@router.get("/endpoints")
def endpoints(request: Request, session: SessionDep, window: str = "24h") -> HTMLResponse:
    """Model endpoints: state, latency, errors, tokens and cost."""
    period = window if window in endpoints_view.WINDOWS else "24h"
    page = endpoints_view.endpoints_page(session, period)
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
    values_before = {"weight": shown_weight, "quota": shown_quota, "reserved": shown_reserved}
    changes = changed_fields({"weight": weight, "quota": quota, "reserved": reserved}, values_before)
    rules = {rule: text if rule == "weight" else read(text, rule) for rule, text in changes.items()}
    scheduling_settings.set_rules(session, name, rules)
    return redirect("/workers#projects")


@router.post("/workers/{worker_id}/{move}")
def move(session: SessionDep, worker_id: Id, move: Literal["drain", "resume"]) -> RedirectResponse:
    """Drains a worker, or gives it work again."""
    capacity.set_draining(session, worker_id, draining=move == "drain")
    return redirect("/workers#processes")


@router.post("/maintenance")
def set_maintenance(
    session: SessionDep, edge: EdgeDep, reason: Annotated[str, Form(max_length=2000)] = ""
) -> RedirectResponse:
    """Turns maintenance mode on with a reason, off without one."""
    if reason.strip():
        maintenance_mode.begin_maintenance(session, reason)
    else:
        maintenance_mode.end_maintenance(session)
    edge.forget_maintenance(session)
    return redirect("/workers#maintenance")


@router.post("/workers/licences")
def set_seats(
    session: SessionDep, actor: ActorDep, name: Annotated[str, Form()], seats: Annotated[int, Form()]
) -> RedirectResponse:
    """Sets the number of seats of a licence."""
    licences.set_seats(session, name, seats, actor)
    return redirect("/workers#licences")
