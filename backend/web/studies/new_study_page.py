"""`/studies/new`: form that starts a study."""

import json
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import uuid4

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
from backend.services.capacity.views.capabilities import abilities
from backend.services.results.views.leaderboard import names
from backend.services.studies.studies import submit_study
from backend.web.dependencies import ActorDep, ProjectDep, SessionDep
from backend.web.page_common import page_router, redirect
from backend.web.runs.new_run_page import FormFields, read_form, text
from backend.web.studies.schemas import StudySubmit
from backend.web.templating import render

router = page_router()
ROWS = 6
"""Factors that the form has room for; the command line and REST take more."""
NUMBERS = ("repeats", "seed", "priority", "concurrency")
LINES = ("tasks", "where")
"""Fields with one value per line."""
TEXTS = ("benchmark", "agent", "provider", "preset")
OBJECTS = ("params", "more")
OWN = ("name", "design", "sample", "max_steps")
FIELDS = sorted({*RunConfig.model_fields} - {"tasks", "where", "repeats", "seed"})
"""Fields of a run that a factor may be, or begin with."""


def factor_rows(form: FormFields) -> list[tuple[str, str]]:
    """Field and levels of each row, as typed."""
    return [(text(form, f"factor_{row}"), text(form, f"levels_{row}")) for row in range(ROWS)]


def values_of(form: FormFields) -> dict[str, Any]:
    """The request, as for REST. Raises Invalid."""
    base: dict[str, Any] = {name: text(form, name) for name in TEXTS if text(form, name)}
    base |= {name: _lines(form, name) for name in LINES if _lines(form, name)}
    base |= {name: number_of(form, name) for name in NUMBERS if text(form, name)}
    if text(form, "params"):
        base["params"] = json_object(form, "params")
    if text(form, "max_steps"):
        base["budget"] = {"max_steps": number_of(form, "max_steps")}
    more = json_object(form, "more") if text(form, "more") else {}
    body: dict[str, Any] = {"base": {**more, **base}, "factors": dict(typed_factors(form))}
    body |= {name: text(form, name) for name in ("name", "design") if text(form, name)}
    if text(form, "sample"):
        body["sample"] = number_of(form, "sample") / 100
    return body


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


def typed_factors(form: FormFields) -> Iterator[tuple[str, list[Any]]]:
    rows = [(name, levels) for name, levels in factor_rows(form) if name or levels]
    for name, levels in rows:
        if sum(name == other for other, _ in rows) > 1:
            raise Invalid("two factors set the same field", code="invalid_study", path=f"factors.{name}")
        try:
            yield name, levels_of(levels)
        except ValueError as error:
            raise Invalid(f"expected JSON, {error}", code="invalid_study", path=f"factors.{name}") from None


def requested(form: FormFields) -> StudySubmit:
    """The request, checked as REST checks it. Raises Invalid."""
    try:
        return StudySubmit.model_validate(values_of(form))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = ".".join(map(str, first["loc"]))
        raise Invalid(first["msg"], code="invalid_study", path=path) from None


def place_of(path: str, rows: Sequence[tuple[str, str]]) -> str:
    """The form's field for an error's path: `factor_0` for `factors.image.scale.1`; empty if there is none."""
    if path.startswith("factors"):
        named = [at for at, (name, _) in enumerate(rows) if name and f"{path}.".startswith(f"factors.{name}.")]
        return f"factor_{max(named, key=lambda at: len(rows[at][0]), default=0)}"
    first = path.removeprefix("base.").removeprefix("budget.").partition(".")[0]
    known = {*TEXTS, *LINES, *NUMBERS, *OBJECTS, *OWN}
    return first if first in known else "more" if first in RunConfig.model_fields else ""


def show(request: Request, session: Session, form: FormFields, *, error: DeskarenaError | None = None) -> HTMLResponse:
    """The form with submitted values."""
    rows = factor_rows(form)
    path = getattr(error, "path", None) or ""
    values = {
        "given": form,
        "benchmarks": names(session),
        "able": abilities(session),
        "presets": {name: preset.about for name, preset in PRESETS.items()},
        "designs": {Design.ONE_AT_A_TIME: "One factor at a time", Design.FULL: "Every combination"},
        "rows": rows,
        "fields": FIELDS,
        "error": error,
        "place": place_of(path, rows) if path else "",
        "key": text(form, "key") or uuid4().hex,
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
    """Starts the study, or shows the form again with the error. The form's key makes a double click safe."""
    try:
        body = requested(form)
        key = text(form, "key") or None
        study = submit_study(session, body.config(), project=project, actor=actor, tuning=body.tuning(), key=key)
    except DeskarenaError as error:
        session.rollback()
        return show(request, session, form, error=error)
    return redirect(f"/studies/{study.id}")
