"""`/studies/new`: form that starts a study."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import ValidationError
from sqlalchemy.orm import Session
from starlette.datastructures import FormData

from backend.domain.errors import DeskarenaError, Invalid
from backend.domain.model.presets import PRESETS
from backend.domain.model.run import RunConfig
from backend.domain.studies.levels import levels_of
from backend.domain.studies.study import Design
from backend.services.capacity.config_checks import field_problems
from backend.services.capacity.views.capabilities import abilities
from backend.services.read_model import FieldProblem
from backend.services.results.views.leaderboard import names
from backend.services.runs.views.run_form import validation_problems
from backend.services.studies.studies import submit_study
from backend.web.dependencies import ActorDep, ProjectDep, SessionDep
from backend.web.page_common import page_router, redirect
from backend.web.runs.new_run_page import (
    FormFields,
    form_error,
    key_of,
    read_form,
    text,
    wrong_form,
)
from backend.web.studies.schemas import StudySubmit
from backend.web.templating import render

router = page_router()
ROWS = 6
"""Factors that the form has room for; the command line and REST take more."""
NUMBERS = ("repeats", "seed", "priority", "concurrency")
LINES = ("tasks", "where")
"""Fields with one value per line."""
TASK_SETS = "task_sets"
"""One task set per line: patterns with spaces between."""
TEXTS = ("benchmark", "agent", "provider", "preset")
OBJECTS = ("params", "more")
OWN = ("name", "design", "sample", "max_steps")
FIELDS = sorted({*RunConfig.model_fields} - {"tasks", "where", "repeats", "seed"})
"""Fields of a run that a factor may be, or start with."""


def factor_rows(form: FormFields) -> list[tuple[str, str]]:
    """Field and levels of each row, as typed."""
    return [(text(form, f"factor_{row}"), text(form, f"levels_{row}")) for row in range(ROWS)]


@contextmanager
def collect_problems(problems: list[FieldProblem]) -> Iterator[None]:
    """Collects problems instead of raising, so that a form shows all of them."""
    try:
        yield
    except Invalid as error:
        problems += field_problems(error)


def values_of(form: FormFields, problems: list[FieldProblem]) -> dict[str, Any]:
    """The request, as for REST. Adds what is wrong."""
    base: dict[str, Any] = {name: text(form, name) for name in TEXTS if text(form, name)}
    base |= {name: _lines(form, name) for name in LINES if _lines(form, name)}
    for name in NUMBERS:
        if text(form, name):
            with collect_problems(problems):
                base[name] = number_of(form, name)
    if text(form, "max_steps"):
        with collect_problems(problems):
            base["budget"] = {"max_steps": number_of(form, "max_steps")}
    base = objects_of(form, problems) | base
    body: dict[str, Any] = {"base": base, "factors": typed_factors(form, problems)}
    if sets := _lines(form, TASK_SETS):
        body["factors"]["tasks"] = sets
    body |= {name: text(form, name) for name in ("name", "design") if text(form, name)}
    if text(form, "sample"):
        with collect_problems(problems):
            body["sample"] = number_of(form, "sample") / 100
    return body


def objects_of(form: FormFields, problems: list[FieldProblem]) -> dict[str, Any]:
    """Parameters and further fields, which are typed as JSON. Adds what is wrong."""
    values: dict[str, Any] = {}
    if text(form, "more"):
        with collect_problems(problems):
            values |= json_object(form, "more")
    if text(form, "params"):
        with collect_problems(problems):
            values["params"] = json_object(form, "params")
    return values


def _lines(form: FormFields, name: str) -> list[str]:
    return [line.strip() for line in text(form, name).splitlines() if line.strip()]


def number_of(form: FormFields, name: str) -> Any:
    try:
        return json.loads(text(form, name))
    except ValueError:
        raise Invalid("expected a number", code="invalid_request", path=name) from None


def json_object(form: FormFields, name: str) -> dict[str, Any]:
    try:
        value = json.loads(text(form, name))
    except ValueError as error:
        raise Invalid(f"expected JSON, {error}", code="invalid_request", path=name) from None
    if not isinstance(value, dict):
        raise Invalid("expected a JSON object", code="invalid_request", path=name)
    return value


def typed_factors(form: FormFields, problems: list[FieldProblem]) -> dict[str, list[Any]]:
    """Levels by field. Adds what is wrong."""
    rows = [(name, levels) for name, levels in factor_rows(form) if name or levels]
    factors: dict[str, list[Any]] = {}
    for name, levels in rows:
        path = f"factors.{name}"
        if name in factors:
            problems.append(FieldProblem(path=path, message="Two factors set the same field."))
        try:
            factors[name] = levels_of(levels)
        except ValueError as error:
            problems.append(FieldProblem(path=path, message=f"Enter JSON: {error}."))
    return factors


def parse_request(form: FormFields, problems: list[FieldProblem]) -> StudySubmit | None:
    """The request, checked as REST checks it; None, with all problems, if it is invalid."""
    values = values_of(form, problems)
    try:
        body = StudySubmit.model_validate(values)
    except ValidationError as error:
        problems += validation_problems(error)
    return None if problems else body


def place_of(path: str, rows: Sequence[tuple[str, str]], *, with_sets: bool) -> str:
    """The form's field for an error's path: `factor_0` for `factors.image.scale.1`; empty if there is none."""
    if with_sets and f"{path}.".startswith(("tasks.", "factors.tasks.")):
        return TASK_SETS
    if path.startswith("factors"):
        named = [at for at, (name, _) in enumerate(rows) if name and f"{path}.".startswith(f"factors.{name}.")]
        return f"factor_{max(named, key=lambda at: len(rows[at][0]), default=0)}"
    first = path.removeprefix("base.").removeprefix("budget.").partition(".")[0]
    field_names = {*TEXTS, *LINES, *NUMBERS, *OBJECTS, *OWN}
    return first if first in field_names else "more" if first in RunConfig.model_fields else ""


def problems_by_field(
    problems: Sequence[FieldProblem], error: DeskarenaError | None, place: Callable[[str], str]
) -> dict[str, list[str]]:
    """Problems by the form's field; those of no field under ""."""
    by_field: dict[str, list[str]] = {}
    for problem in problems or (field_problems(error) if error else ()):
        by_field.setdefault(place(problem.path) if problem.path else "", []).append(problem.message)
    return {field: list(dict.fromkeys(messages)) for field, messages in by_field.items()}


def show(
    request: Request,
    session: Session,
    form: FormFields,
    *,
    error: DeskarenaError | None = None,
    problems: Sequence[FieldProblem] = (),
) -> HTMLResponse:
    """The form with submitted values, and all that is wrong with them."""
    rows = factor_rows(form)
    place = partial(place_of, rows=rows, with_sets=bool(text(form, TASK_SETS)))
    values = {
        "given": form,
        "benchmarks": names(session),
        "able": abilities(session),
        "presets": {name: preset.about for name, preset in PRESETS.items()},
        "designs": {Design.ONE_AT_A_TIME: "One factor at a time", Design.FULL: "Every combination"},
        "rows": rows,
        "fields": FIELDS,
        "problems": problems_by_field(problems, error, place),
        "key": key_of(form, error),
    }
    return render(request, "new_study.html", values, status=error.status if error else 200, once=True)


@router.get("/studies/new")
def ask(request: Request, session: SessionDep) -> HTMLResponse:
    """The form. Its whole state is in the address."""
    return show(request, session, request.query_params)


@router.post("/studies/new")
def submit(  # noqa: PLR0913 - what the edge gives, and the form
    request: Request,
    session: SessionDep,
    project: ProjectDep,
    actor: ActorDep,
    *,
    form: FormData = Depends(read_form),  # noqa: B008, FAST002 - FormData is no type that Annotated could describe
) -> Response:
    """Starts the study, or shows the form again with all errors. The form's key makes a double click safe."""
    problems: list[FieldProblem] = []
    body = parse_request(form, problems)
    if body is None:
        return show(request, session, form, error=wrong_form(problems), problems=problems)
    key = text(form, "key") or None
    try:
        study = submit_study(session, body.config(), project=project, actor=actor, tuning=body.tuning(), key=key)
    except DeskarenaError as error:
        session.rollback()
        return show(request, session, form, error=form_error(error))
    return redirect(f"/studies/{study.id}")
