"""Quarantine: set a task aside, lift it, list what is set aside."""

from typing import Annotated

from fastapi import Query
from pydantic import Field

from backend.services.accounts.projects import LONGEST_NAME, person_or_local
from backend.services.benchmarks import quarantine as service
from backend.services.benchmarks.quarantine import LONGEST_REASON
from backend.services.benchmarks.views.quarantine import QuarantineView, history_of, quarantines
from backend.web.api_common import Id, Page, RequestModel, api_router
from backend.web.dependencies import ProjectDep, SessionDep

router = api_router("quarantine")
Benchmark = Annotated[str | None, Query(max_length=100, description="Only tasks of this benchmark.")]


class QuarantineBody(RequestModel):
    """Why a task is set aside or taken back, and who says so."""

    reason: str = Field(
        min_length=1, max_length=LONGEST_REASON, examples=["the checker fails on every second day of the month"]
    )
    by: str = Field(default="", max_length=LONGEST_NAME, description="Your name; `local` if empty.", examples=["ada"])


@router.get("/quarantine")
def list_quarantine(session: SessionDep, benchmark: Benchmark = None) -> Page[QuarantineView]:
    """List quarantined tasks, newest first, at most 500."""
    return Page[QuarantineView](items=quarantines(session, benchmark))


@router.post("/tasks/{task_id}/quarantine", status_code=201)
def set_quarantine(session: SessionDep, project: ProjectDep, task_id: Id, body: QuarantineBody) -> QuarantineView:
    """Quarantine a task: new runs leave it out, and its stored scores stop counting. 409 if it is quarantined."""
    service.quarantine_task(session, task_id, body.reason, person_or_local(session, project, body.by, path="by"))
    return history_of(session, task_id)[0]


@router.post("/tasks/{task_id}/quarantine/lift")
def lift_quarantine(session: SessionDep, project: ProjectDep, task_id: Id, body: QuarantineBody) -> QuarantineView:
    """Lift a task's quarantine: its stored scores count again. 409 if it is not quarantined."""
    service.lift_quarantine(session, task_id, body.reason, person_or_local(session, project, body.by, path="by"))
    return history_of(session, task_id)[0]
