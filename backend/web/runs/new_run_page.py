"""`/runs/new`: what will this experiment cost and tell me?"""

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
from backend.services.runs.views.new_run import NewRun
from backend.web.dependencies import ActorDep, ProjectDep, SessionDep
from backend.web.page_common import page_router, see
from backend.web.templating import render

router = page_router()
NUMBERS = ("repeats", "seed", "priority", "concurrency")
BUDGET = ("max_steps", "max_seconds", "max_tokens", "max_usd")
CHOICES = ("variant", "preset", "observation", "action_space", "desktop_image")
JUDGE = ("endpoint", "model", "votes", "temperature")
FIRST = "random"
SIZES = ("1920x1080", "1440x900", "1280x800")
OPTIONS = ("observation_params", "action_params", "image")
Given = QueryParams | FormData


async def read_form(request: Request) -> FormData:
    """The posted fields."""
    return await request.form(max_fields=20_000, max_files=0)


def text(given: Given, name: str, default: str = "") -> str:
    """One field's text."""
    value = given.get(name, default)
    return value.strip() if isinstance(value, str) else default


def patterns(given: Given) -> list[str]:
    """The selection: ticked tasks and whole domains, or nothing for all."""
    return [str(value) for value in given.getlist("tasks") if str(value)]


def values_of(given: Given, page: NewRun, agent: str) -> dict[str, Any]:
    """The request's fields from the form's; empty ones are left to their defaults. Raises Invalid."""
    fields = next((fields for found, fields in page.agents if found.name == agent), [])
    typed = {field.name: text(given, f"p.{agent}.{field.name}") for field in fields}
    asked = any(key.startswith(f"p.{agent}.") for key in given)
    values: dict[str, Any] = {
        "benchmark": page.benchmark,
        "agent": agent,
        "params": service.params_of(fields, typed) if asked else {},
        "provider": text(given, "provider", "local"),
        "name": text(given, "name"),
        "tasks": patterns(given),
        "budget": {name: text(given, name) for name in BUDGET if text(given, name)},
    }
    values |= {name: text(given, name) for name in (*NUMBERS, *CHOICES) if text(given, name)}
    values |= {name: service.options_of(name, text(given, name)) for name in OPTIONS if text(given, name)}
    if text(given, "judge_model"):
        values["judge"] = {name: text(given, f"judge_{name}") for name in JUDGE if text(given, f"judge_{name}")}
    if text(given, "screen"):
        width, _, height = text(given, "screen").partition("x")
        values["screen"] = {"width": width, "height": height}
    return values


def sizes(page: NewRun, given: Given) -> tuple[str, ...]:
    """Screens that can be chosen: those of the image, where it cannot show every one."""
    machine = page.able.provider(text(given, "provider", "local"))
    offers = [image.offer for image in machine.images] if machine else []
    wanted = text(given, "desktop_image")
    shown = [each for offer in offers if (offer.name == wanted if wanted else offer.default) for each in offer.screens]
    return tuple(f"{each.width}x{each.height}" for each in shown) or SIZES


def first_agent(page: NewRun) -> str:
    """The agent that is chosen at first: one that does not see the task and needs no model."""
    names = [agent.name for agent, _ in page.agents if not agent.privileged]
    return FIRST if FIRST in names else next(iter(names), "")


def page_of(session: Session, given: Given) -> NewRun:
    """What the form offers for what is chosen so far."""
    chosen = text(given, "benchmark"), text(given, "provider", "local"), text(given, "desktop_image")
    return service.new_run(session, *chosen)


def show(
    request: Request, session: Session, page: NewRun, given: Given, *, error: DeskarenaError | None = None
) -> HTMLResponse:
    """The form with what was given and the forecast of it."""
    agent = text(given, "agent") or first_agent(page)
    expected: Forecast | None = None
    trouble = error
    if page.benchmark and agent:
        try:
            expected = forecast(session, service.request_of(values_of(given, page, agent)))
        except Invalid as found:
            trouble = trouble or found
    values: Mapping[str, Any] = {
        "page": page,
        "given": given,
        "agent": agent,
        "provider": text(given, "provider", "local"),
        "chosen": set(patterns(given)),
        "forecast": expected,
        "sizes": sizes(page, given),
        "error": trouble,
        "key": text(given, "key") or uuid4().hex,
    }
    return render(request, "new_run.html", values, status=error.status if error else 200)


@router.get("/runs/new")
def ask(request: Request, session: SessionDep) -> HTMLResponse:
    """The form. Its whole state is in the address."""
    given = request.query_params
    page = page_of(session, given)
    return show(request, session, page, given)


@router.post("/runs/new")
def submit(  # noqa: PLR0913 - what the edge gives, and the form
    request: Request,
    session: SessionDep,
    project: ProjectDep,
    actor: ActorDep,
    *,
    given: FormData = Depends(read_form),  # noqa: B008, FAST002 - FormData is no type that Annotated could describe
) -> Response:
    """Starts the run, or shows the form again with what is wrong. The form's key makes a double click harmless."""
    page = page_of(session, given)
    try:
        values = values_of(given, page, text(given, "agent"))
        wanted: RunRequest = service.request_of({**values, "idempotency_key": text(given, "key") or None})
        run = submit_run(session, wanted, project=project, actor=actor)
    except DeskarenaError as error:
        session.rollback()
        return show(request, session, page, given, error=error)
    return see(f"/runs/{run.id}")
