"""`/tasks/{id}`: page of a task."""

from functools import partial
from typing import Annotated, Literal

from fastapi import Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from backend.services.benchmarks import quarantine
from backend.services.benchmarks.benchmarks import get_task
from backend.services.benchmarks.views import task_page
from backend.services.benchmarks.views.task_description import evaluator_words, setup_words
from backend.services.capacity.views.capabilities import LOCAL, abilities
from backend.services.runs.views import task_history as history_view
from backend.web.dependencies import PersonDep, SessionDep
from backend.web.page_common import Id, page_router, redirect
from backend.web.table_files import TableDep
from backend.web.templating import render

router = page_router()
Reason = Annotated[str, Form(max_length=quarantine.LONGEST_REASON)]


@router.get("/tasks/{task_id}")
def task(request: Request, session: SessionDep, task_id: Id) -> HTMLResponse:
    page = task_page.task_page(session, task_id, why_not=partial(abilities(session).why_not, LOCAL))
    words = {"setup": setup_words(page.task.spec), "evaluator": evaluator_words(page.task.spec)}
    history = history_view.task_history(session, task_id)
    return render(request, "task.html", {"page": page, "task": page.task, "words": words, "history": history})


@router.get("/tasks/{task_id}/{table}.csv")
def table(session: SessionDep, write: TableDep, task_id: Id, table: Literal["history", "configurations"]) -> Response:
    """Episodes of the task, or the results of each configuration."""
    task = get_task(session, task_id)
    name = f"{task.domain}-{task.name}-{table}"
    if table == "history":
        return write(name, history_view.HISTORY_HEAD, history_view.history_rows(session, task_id))
    return write(name, history_view.CONFIGURATIONS_HEAD, history_view.configuration_rows(session, task_id))


@router.post("/tasks/{task_id}/quarantine")
def set_quarantine(session: SessionDep, person: PersonDep, task_id: Id, reason: Reason) -> RedirectResponse:
    """Quarantines the task."""
    quarantine.quarantine_task(session, task_id, reason, person)
    return redirect(f"/tasks/{task_id}#quarantine")


@router.post("/tasks/{task_id}/quarantine/lift")
def lift_quarantine(session: SessionDep, person: PersonDep, task_id: Id, reason: Reason) -> RedirectResponse:
    """Lifts the task's quarantine."""
    quarantine.lift_quarantine(session, task_id, reason, person)
    return redirect(f"/tasks/{task_id}#quarantine")
