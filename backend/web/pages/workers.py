"""`/workers`: can this installation run what I want?"""

from fastapi import Request
from fastapi.responses import HTMLResponse

from backend.services import pages_workers
from backend.web.edge import SessionDep
from backend.web.pages.common import page_router
from backend.web.templating import render

router = page_router()


@router.get("/workers")
def workers(request: Request, session: SessionDep) -> HTMLResponse:
    """Nodes, slots, providers, agents, and the worker processes."""
    return render(request, "workers.html", {"page": pages_workers.workers_page(session)})
