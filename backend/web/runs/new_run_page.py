"""`/runs/new`: form for a new run, with its forecast."""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, Response
from sqlalchemy.orm import Session
from starlette.datastructures import FormData, QueryParams

from backend.domain.errors import DeskarenaError, Invalid
from backend.services.capacity.run_request import RunRequest
from backend.services.runs.forecast import Forecast, forecast
from backend.services.runs.runs import submit_run
from backend.services.runs.views import new_run as service
from backend.services.runs.views.new_run import ListedTasks, NewRun
from backend.web.dependencies import ActorDep, ProjectDep, SessionDep
from backend.web.page_common import page_router, redirect
from backend.web.templating import render

router = page_router()
NUMBERS = ("repeats", "seed", "priority", "concurrency")
BUDGET = ("max_steps", "max_seconds", "max_tokens", "max_usd")
CHOICES = ("variant", "preset", "observation", "action_space", "desktop_image")
JUDGE = ("endpoint", "model", "votes", "temperature")
FIRST = "random"
SIZES = ("1920x1080", "1440x900", "1280x800")
OPTIONS = ("observation_params", "action_params", "image")
FormFields = QueryParams | FormData


async def read_form(request: Request) -> FormData:
    return await request.form(max_fields=20_000, max_files=0)


def text(form: FormFields, name: str, default: str = "") -> str:
    value = form.get(name, default)
    return value.strip() if isinstance(value, str) else default


def patterns(form: FormFields) -> list[str]:
    """The selection: ticked tasks and whole domains, or nothing for all."""
    return [str(value) for value in form.getlist("tasks") if str(value)]


def conditions(form: FormFields) -> list[str]:
    """Ticked labels of tasks, as `label=value`."""
    return [str(value) for value in form.getlist("where") if str(value)]


def values_of(form: FormFields, page: NewRun, agent: str) -> dict[str, Any]:
    """The request's fields from the form's; empty ones keep their defaults. Raises Invalid."""
    fields = next((fields for each, fields in page.agents if each.name == agent), [])
    typed = {field.name: text(form, f"p.{agent}.{field.name}") for field in fields}
    has_params = any(key.startswith(f"p.{agent}.") for key in form)
    values: dict[str, Any] = {
        "benchmark": page.benchmark,
        "agent": agent,
        "params": service.params_of(fields, typed) if has_params else {},
        "provider": text(form, "provider", "local"),
        "name": text(form, "name"),
        "tasks": patterns(form),
        "where": conditions(form),
        "budget": {name: text(form, name) for name in BUDGET if text(form, name)},
    }
    values |= {name: text(form, name) for name in (*NUMBERS, *CHOICES) if text(form, name)}
    values |= {name: service.options_of(name, text(form, name)) for name in OPTIONS if text(form, name)}
    if text(form, "judge_model"):
        values["judge"] = {name: text(form, f"judge_{name}") for name in JUDGE if text(form, f"judge_{name}")}
    if text(form, "screen"):
        width, _, height = text(form, "screen").partition("x")
        values["screen"] = {"width": width, "height": height}
    return values


def sizes(page: NewRun, form: FormFields) -> tuple[str, ...]:
    """Screens to choose from: those of the image, if it does not support all."""
    machine = page.able.provider(text(form, "provider", "local"))
    offers = [image.offer for image in machine.images] if machine else []
    image_name = text(form, "desktop_image")
    shown = [
        each
        for offer in offers
        if (offer.name == image_name if image_name else offer.default)
        for each in offer.screens
    ]
    return tuple(f"{each.width}x{each.height}" for each in shown) or SIZES


def first_agent(page: NewRun) -> str:
    """The preselected agent: one that does not see the task and needs no model."""
    names = [agent.name for agent, _ in page.agents if not agent.privileged]
    return FIRST if FIRST in names else next(iter(names), "")


def page_of(session: Session, form: FormFields) -> NewRun:
    """The form for the current choices."""
    chosen = text(form, "benchmark"), text(form, "provider", "local"), text(form, "desktop_image")
    listed = ListedTasks(patterns(form), [str(each) for each in form.getlist("open")], text(form, "find"))
    return service.new_run(session, *chosen, listed)


def show(
    request: Request, session: Session, page: NewRun, form: FormFields, *, error: DeskarenaError | None = None
) -> HTMLResponse:
    """The form with submitted values and their forecast."""
    agent = text(form, "agent") or first_agent(page)
    expected: Forecast | None = None
    trouble = error
    if page.benchmark and agent:
        try:
            expected = forecast(session, service.request_of(values_of(form, page, agent)), listed=False)
        except Invalid as problem:
            trouble = trouble or problem
    values: Mapping[str, Any] = {
        "page": page,
        "given": form,
        "agent": agent,
        "provider": text(form, "provider", "local"),
        "chosen": set(patterns(form)),
        "where": conditions(form),
        "forecast": expected,
        "sizes": sizes(page, form),
        "error": trouble,
        "opened": set(form.getlist("open")),
        "key": (text(form, "key") if error else "") or uuid4().hex,
    }
    return render(request, "new_run.html", values, status=error.status if error else 200)


@router.get("/runs/new")
def ask(request: Request, session: SessionDep) -> HTMLResponse:
    """The form. Its whole state is in the address."""
    form = request.query_params
    page = page_of(session, form)
    return show(request, session, page, form)


@router.post("/runs/new")
def submit(  # noqa: PLR0913 - what the edge gives, and the form
    request: Request,
    session: SessionDep,
    project: ProjectDep,
    actor: ActorDep,
    *,
    form: FormData = Depends(read_form),  # noqa: B008, FAST002 - FormData is no type that Annotated could describe
) -> Response:
    """Starts the run, or shows the form again with errors. The form's key makes a double click safe."""
    page = page_of(session, form)
    try:
        values = values_of(form, page, text(form, "agent"))
        run_request: RunRequest = service.request_of({**values, "idempotency_key": text(form, "key") or None})
        run = submit_run(session, run_request, project=project, actor=actor)
    except DeskarenaError as error:
        session.rollback()
        return show(request, session, page, form, error=error)
    return redirect(f"/runs/{run.id}")
