"""`/runs/new`: form for a new run, with its forecast."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode
from uuid import UUID, uuid4

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, Response
from sqlalchemy.orm import Session
from starlette.datastructures import FormData, QueryParams

from backend.domain.errors import Conflict, DeskarenaError, Invalid
from backend.domain.model.presets import PRESETS
from backend.services.capacity.config_checks import field_problems
from backend.services.capacity.views.capabilities import AgentView
from backend.services.read_model import FieldProblem
from backend.services.runs.estimates import estimate
from backend.services.runs.forecast import Forecast, forecast
from backend.services.runs.runs import submit_run
from backend.services.runs.views import new_run as service
from backend.services.runs.views import run_form
from backend.services.runs.views.new_run import ListedTasks, NewRun, Parameter
from backend.web.dependencies import ActorDep, ProjectDep, SessionDep
from backend.web.page_common import page_router, redirect
from backend.web.templating import render

router = page_router()
FIRST = "random"
KEY_REUSED = "idempotency_key_reused"
SIZES = ("1920x1080", "1440x900", "1280x800")
FormFields = QueryParams | FormData
Agents = Sequence[tuple[AgentView, list[Parameter]]]


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


def values_of(form: FormFields, agents: Agents, agent: str, problems: list[FieldProblem]) -> dict[str, Any]:
    """The request's fields from the form's; empty ones keep their defaults. Adds what is wrong."""
    fields = next((fields for choice, fields in agents if choice.name == agent), [])
    typed = {field.name: text(form, f"p.{agent}.{field.name}") for field in fields}
    has_params = any(key.startswith(f"p.{agent}.") for key in form)
    values: dict[str, Any] = {
        "benchmark": text(form, "benchmark"),
        "agent": agent,
        "params": run_form.params_of(fields, typed, problems) if has_params else {},
        "provider": text(form, "provider", "local"),
        "name": text(form, "name"),
        "tasks": patterns(form),
        "where": conditions(form),
        "budget": {name: text(form, name) for name in run_form.BUDGET if text(form, name)},
    }
    simple = (*run_form.NUMBERS, *run_form.CHOICES)
    values |= {name: text(form, name) for name in simple if text(form, name)}
    values |= options_of(form, option_fields(form, agents, agent), problems)
    if text(form, "judge_model"):
        values["judge"] = {name: text(form, f"judge_{name}") for name in run_form.JUDGE if text(form, f"judge_{name}")}
    if text(form, "screen"):
        width, _, height = text(form, "screen").partition("x")
        values["screen"] = {"width": width, "height": height}
    return values


def option_fields(form: FormFields, agents: Agents, agent: str) -> dict[str, list[Parameter]]:
    """Fields of the options of the chosen spaces, which are the agent's unless the form has others."""
    own = next((choice for choice, _ in agents if choice.name == agent), None)
    observation = text(form, "observation") or (own.observation if own else "")
    return service.option_fields(observation, text(form, "action_space") or (own.action_space if own else ""))


def options_of(
    form: FormFields, fields: Mapping[str, list[Parameter]], problems: list[FieldProblem]
) -> dict[str, dict[str, Any]]:
    """Options from their fields, or from one text with all of them as JSON. Adds what is wrong.

    Options with their default are left out, so that a preset can set them.
    """
    options: dict[str, dict[str, Any]] = {}
    for name in run_form.OPTIONS:
        if text(form, name):
            options[name] = run_form.options_of(name, text(form, name), problems)
        elif any(key.startswith(f"{name}.") for key in form):
            fields_by_name = {field.name: field for field in fields.get(name, ())}
            typed = {key: text(form, f"{name}.{key}") for key in fields_by_name}
            values = run_form.params_of(list(fields_by_name.values()), typed, problems, name)
            options[name] = {key: value for key, value in values.items() if not fields_by_name[key].has_default(value)}
    return {name: values for name, values in options.items() if values}


def sizes(page: NewRun, form: FormFields) -> tuple[str, ...]:
    """Screens to choose from: those of the image, if it does not support all."""
    machine = page.able.provider(text(form, "provider", "local"))
    offers = [image.offer for image in machine.images] if machine else []
    image_name = text(form, "desktop_image")
    sizes = [
        screen
        for offer in offers
        if (offer.name == image_name if image_name else offer.default)
        for screen in offer.screens
    ]
    return tuple(f"{size.width}x{size.height}" for size in sizes) or SIZES


def first_agent(agents: Agents) -> str:
    """The preselected agent: one that does not see the task and needs no model."""
    names = [agent.name for agent, _ in agents if not agent.privileged]
    return FIRST if FIRST in names else next(iter(names), "")


def page_of(session: Session, form: FormFields) -> NewRun:
    """The form for the current choices."""
    selection = text(form, "benchmark"), text(form, "provider", "local"), text(form, "desktop_image")
    listed = ListedTasks(patterns(form), [str(value) for value in form.getlist("open")], text(form, "find"))
    return replace(service.new_run(session, *selection, listed), preset=PRESETS.get(text(form, "preset")))


def problems_at(problems: Sequence[FieldProblem], path: str) -> list[FieldProblem]:
    """Problems of a field or a part of it."""
    return [problem for problem in problems if problem.path == path or problem.path.startswith(f"{path}.")]


def key_of(form: FormFields, error: DeskarenaError | None) -> str:
    """The key of the shown form: the posted one while its run has not been started, else a new one."""
    again = error is not None and error.code != KEY_REUSED
    return (text(form, "key") if again else "") or uuid4().hex


def wrong_form(problems: Sequence[FieldProblem]) -> Invalid:
    """The error of a form with these problems."""
    return Invalid("the form is not valid", code="invalid_request", path=problems[0].path)


def form_error(error: DeskarenaError) -> DeskarenaError:
    """The error as a form says it, whose reader never saw its key."""
    if error.code != KEY_REUSED:
        return error
    return Conflict("This form has started something already.", code=KEY_REUSED, hint="Start again to start another.")


def show(
    request: Request, session: Session, page: NewRun, form: FormFields, *, error: DeskarenaError | None = None
) -> HTMLResponse:
    """The form with submitted values, everything that is wrong with them, and their forecast.

    Args:
        request: the request.
        session: the transaction.
        page: the form's choices.
        form: its values.
        error: why the run was not started.
    """
    agent = text(form, "agent") or first_agent(page.agents)
    expected: Forecast | None = None
    problems: list[FieldProblem] = []
    wish: dict[str, Any] = {}
    if page.benchmark and agent:
        wish = {**values_of(form, page.agents, agent, problems), "benchmark": page.benchmark}
        run_request = run_form.request_of(wish, problems)
        if run_request is not None:
            expected = forecast(session, run_request, listed=False, history=False)
            problems += expected.problems
    if error is not None and not problems:
        problems = field_problems(error)
    values: Mapping[str, Any] = {
        "page": page,
        "given": form,
        "agent": agent,
        "options": option_fields(form, page.agents, agent),
        "provider": text(form, "provider", "local"),
        "chosen": set(patterns(form)),
        "where": conditions(form),
        "forecast": expected,
        "sizes": sizes(page, form),
        "problems": list(dict.fromkeys(problems)),
        "problems_at": problems_at,
        "study_form": urlencode(run_form.study_form_of(wish)),
        "refused": error is not None,
        "opened": set(form.getlist("open")),
        "key": key_of(form, error),
    }
    return render(request, "new_run.html", values, status=error.status if error else 200, once=True)


@router.get("/runs/new")
def ask(request: Request, session: SessionDep, clone: UUID | None = None) -> Response:
    """The form. Its whole state is in the address. `clone`: a run that is to be started again."""
    if clone is not None:
        return redirect(f"/runs/new?{urlencode(run_form.form_of(session, clone))}")
    form = request.query_params
    page = page_of(session, form)
    return show(request, session, page, form)


@router.get("/runs/new/estimate")
def show_estimate(request: Request, session: SessionDep) -> HTMLResponse:
    """Part of the form: what the run of its current choices would take, from earlier runs."""
    form = request.query_params
    agents = service.agent_parameters(session)
    values = values_of(form, agents, text(form, "agent") or first_agent(agents), [])
    run_request = run_form.request_of(values, [])
    estimated = estimate(session, run_request) if run_request is not None else None
    return render(request, "run_estimate.html", {"estimate": estimated})


@router.post("/runs/new")
def submit(  # noqa: PLR0913 - what the edge gives, and the form
    request: Request,
    session: SessionDep,
    project: ProjectDep,
    actor: ActorDep,
    *,
    form: FormData = Depends(read_form),  # noqa: B008, FAST002 - FormData is no type that Annotated could describe
) -> Response:
    """Starts the run, or shows the form again with all errors. The form's key makes a double click safe."""
    page = page_of(session, form)
    problems: list[FieldProblem] = []
    values = {**values_of(form, page.agents, text(form, "agent"), problems), "benchmark": page.benchmark}
    run_request = run_form.request_of({**values, "idempotency_key": text(form, "key") or None}, problems)
    if run_request is None or problems:
        return show(request, session, page, form, error=wrong_form(problems))
    try:
        run = submit_run(session, run_request, project=project, actor=actor)
    except DeskarenaError as error:
        session.rollback()
        return show(request, session, page, form, error=form_error(error))
    return redirect(f"/runs/{run.id}")
