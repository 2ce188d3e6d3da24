"""`/budgets`: what the project has spent and may spend."""

from typing import Annotated

from fastapi import Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import ValidationError

from backend.domain.errors import Invalid
from backend.domain.model.validation_words import problem_words
from backend.services.runs import budgets as service
from backend.services.runs.budgets import MEASURES, BudgetChanges
from backend.web.dependencies import ProjectDep, SessionDep
from backend.web.page_common import changed_fields, page_router, redirect
from backend.web.templating import render

router = page_router()


@router.get("/budgets")
def show_budgets(request: Request, session: SessionDep, project: ProjectDep) -> HTMLResponse:
    """Spending and budgets of the project."""
    values = {"budgets": service.list_budgets(session, project), "project": project.name}
    return render(request, "budgets.html", values)


@router.post("/budgets")
def change_limits(  # noqa: PLR0913 - the form's fields
    session: SessionDep,
    project: ProjectDep,
    *,
    period: Annotated[str, Form()],
    usd: Annotated[str, Form()] = "",
    tokens: Annotated[str, Form()] = "",
    desktop_hours: Annotated[str, Form()] = "",
    shown: Annotated[str, Form()] = "",
) -> RedirectResponse:
    """Changes limits; an empty field removes one, and unchanged ones stay."""
    before = dict(zip(MEASURES, [*shown.split(","), "", "", ""], strict=False))
    changes = changed_fields({"usd": usd, "tokens": tokens, "desktop_hours": desktop_hours}, before)
    try:
        checked = BudgetChanges.model_validate({name: value or None for name, value in changes.items()})
    except ValidationError as error:
        first = error.errors()[0]
        raise Invalid(problem_words(first), code="invalid_request", path=str(first["loc"][0])) from None
    service.set_budget(session, project, period, checked)
    return redirect("/budgets")
