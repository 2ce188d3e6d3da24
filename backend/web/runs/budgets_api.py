"""Budgets of the project."""

from pydantic import Field

from backend.services.capacity.scheduling_fields import MOST_SPENT, MOST_TOKENS
from backend.services.runs import budgets as service
from backend.services.runs.budgets import BudgetChanges, BudgetView
from backend.web.api_common import Name, Page, RequestModel, api_router
from backend.web.dependencies import ProjectDep, SessionDep

router = api_router("projects")


class BudgetBody(RequestModel):
    """Limits to change; null removes one, what is left out stays."""

    usd: float | None = Field(default=None, ge=0, le=MOST_SPENT, description="US dollars.", examples=[500])
    tokens: int | None = Field(default=None, ge=0, le=MOST_TOKENS)
    desktop_hours: float | None = Field(default=None, ge=0, le=MOST_SPENT, examples=[1000])


@router.get("/budgets")
def list_budgets(session: SessionDep, project: ProjectDep) -> Page[BudgetView]:
    """List the project's budgets: that of each month and that of all time, with what was spent."""
    return Page[BudgetView](items=service.list_budgets(session, project))


@router.patch("/budgets/{period}")
def change_budget(session: SessionDep, project: ProjectDep, period: Name, body: BudgetBody) -> BudgetView:
    """Change a budget of the project, from the next episode on. Running episodes end as any other."""
    changes = BudgetChanges.model_validate(body.model_dump(exclude_unset=True))
    return service.set_budget(session, project, period, changes)
