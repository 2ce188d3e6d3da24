"""`/tasks/{id}`: page of a task."""

from functools import partial

from fastapi import Request
from fastapi.responses import HTMLResponse

from backend.services.benchmarks.views import task_page
from backend.services.benchmarks.views.task_description import evaluator_words, setup_words
from backend.services.capacity.views.capabilities import LOCAL, abilities
from backend.services.runs.views.task_history import task_history
from backend.web.dependencies import SessionDep
from backend.web.page_common import Id, page_router
from backend.web.templating import render

router = page_router()


@router.get("/tasks/{task_id}")
def task(request: Request, session: SessionDep, task_id: Id) -> HTMLResponse:
    page = task_page.task_page(session, task_id, why_not=partial(abilities(session).why_not, LOCAL))
    words = {"setup": setup_words(page.task.spec), "evaluator": evaluator_words(page.task.spec)}
    history = task_history(session, task_id)
    return render(request, "task.html", {"page": page, "task": page.task, "words": words, "history": history})
