"""`/tasks/{id}`: page of a task."""

from functools import partial
from typing import Annotated

from fastapi import Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from backend.services.benchmarks import quarantine
from backend.services.benchmarks.views import task_page
from backend.services.benchmarks.views.task_description import evaluator_words, setup_words
from backend.services.capacity.views.capabilities import LOCAL, abilities
from backend.services.runs.views.task_history import task_history
from backend.web.dependencies import PersonDep, SessionDep
from backend.web.page_common import Id, page_router, redirect
from backend.web.templating import render

router = page_router()
Reason = Annotated[str, Form(max_length=quarantine.LONGEST_REASON)]


@router.get("/tasks/{task_id}")
def task(request: Request, session: SessionDep, task_id: Id) -> HTMLResponse:
    page = task_page.task_page(session, task_id, why_not=partial(abilities(session).why_not, LOCAL))
    words = {"setup": setup_words(page.task.spec), "evaluator": evaluator_words(page.task.spec)}
    history = task_history(session, task_id)
    return render(request, "task.html", {"page": page, "task": page.task, "words": words, "history": history})


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
