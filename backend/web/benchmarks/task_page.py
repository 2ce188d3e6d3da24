"""`/tasks/{id}`: is this task sound, and who solves it?"""

from fastapi import Request
from fastapi.responses import HTMLResponse

from backend.services.benchmarks.views import benchmarks
from backend.services.benchmarks.views.suites import task_parts
from backend.services.benchmarks.views.task_description import evaluator_words, setup_words
from backend.web.dependencies import SessionDep
from backend.web.page_common import Id, page_router
from backend.web.templating import render

router = page_router()


@router.get("/tasks/{task_id}")
def task(request: Request, session: SessionDep, task_id: Id) -> HTMLResponse:
    page = benchmarks.task_page(session, task_id)
    words = {"setup": setup_words(page.spec), "evaluator": evaluator_words(page.spec)}
    parts = task_parts(session, task_id)
    return render(request, "task.html", {"page": page, "words": words, "parts": parts})
