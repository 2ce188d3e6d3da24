"""`/studies/offline/new`: a form that starts what `POST /api/v1/offline-studies` would start."""

from collections.abc import Sequence
from typing import Any

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import ValidationError
from sqlalchemy.orm import Session
from starlette.datastructures import FormData

from backend.db.models import Project
from backend.domain.errors import DeskarenaError
from backend.domain.studies.offline_study import FIELDS
from backend.domain.studies.study import Design
from backend.services.capacity.views.capabilities import abilities
from backend.services.read_model import FieldProblem
from backend.services.runs.views.run_form import validation_problems
from backend.services.studies.demonstrations import list_sets
from backend.services.studies.offline_studies import can_be_asked, submit_offline_study
from backend.services.studies.views.offline_study import set_view
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
from backend.web.studies.new_study_page import (
    collect_problems,
    factor_rows,
    number_of,
    objects_of,
    problems_by_field,
    typed_factors,
)
from backend.web.studies.offline_schemas import OfflineStudySubmit
from backend.web.templating import render

router = page_router()
MOST_SETS = 500
_TEXTS = ("name", "demonstrations", "design")
_BASE = ("agent", "observation", "action_space")
_OBJECTS = ("params", "more")


def parse_request(form: FormFields, problems: list[FieldProblem]) -> OfflineStudySubmit | None:
    """The request, checked as REST checks it; None, with all problems, if it is invalid."""
    base = {**objects_of(form, problems), **{name: text(form, name) for name in _BASE if text(form, name)}}
    body: dict[str, Any] = {name: text(form, name) for name in _TEXTS if text(form, name)}
    body |= {"base": base, "factors": typed_factors(form, problems)}
    if text(form, "seed"):
        with collect_problems(problems):
            base["seed"] = number_of(form, "seed")
    if text(form, "sample"):
        with collect_problems(problems):
            body["sample"] = number_of(form, "sample") / 100
    try:
        request = OfflineStudySubmit.model_validate(body)
    except ValidationError as error:
        problems += validation_problems(error)
    return None if problems else request


def place_of(path: str, form: FormFields) -> str:
    """The form's field for an error's path; empty if there is none."""
    if path.startswith("factors"):
        names = [name for name, _ in factor_rows(form)]
        rows = [at for at, name in enumerate(names) if name and f"{path}.".startswith(f"factors.{name}.")]
        return f"factor_{rows[0] if rows else 0}"
    first = path.removeprefix("base.").partition(".")[0]
    return first if first in {*_TEXTS, *_BASE, *_OBJECTS, "seed", "sample"} else "more" if first in FIELDS else ""


def show(  # noqa: PLR0913 - whose form, its values, and what is wrong with them
    request: Request,
    session: Session,
    project: Project,
    form: FormFields,
    *,
    error: DeskarenaError | None = None,
    problems: Sequence[FieldProblem] = (),
) -> HTMLResponse:
    """The form with submitted values, and all that is wrong with them."""
    values = {
        "given": form,
        "sets": list(map(set_view, list_sets(session, project, limit=MOST_SETS).items)),
        "agents": [agent.name for agent in abilities(session).agents if can_be_asked(agent.name)],
        "designs": {Design.ONE_AT_A_TIME: "One factor at a time", Design.FULL: "Every combination"},
        "rows": factor_rows(form),
        "fields": FIELDS,
        "problems": problems_by_field(problems, error, lambda path: place_of(path, form)),
        "key": key_of(form, error),
    }
    return render(request, "new_offline_study.html", values, status=error.status if error else 200, once=True)


@router.get("/studies/offline/new")
def ask(request: Request, session: SessionDep, project: ProjectDep) -> HTMLResponse:
    """The form. Its whole state is in the address."""
    return show(request, session, project, request.query_params)


@router.post("/studies/offline/new")
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
        return show(request, session, project, form, error=wrong_form(problems), problems=problems)
    try:
        key = text(form, "key") or None
        study = submit_offline_study(session, body.config(), project=project, actor=actor, key=key)
    except DeskarenaError as error:
        session.rollback()
        return show(request, session, project, form, error=form_error(error))
    return redirect(f"/studies/offline/{study.id}")
