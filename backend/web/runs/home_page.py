"""`/`: home page."""

from fastapi import Request
from fastapi.responses import HTMLResponse

from backend.services.runs.views import home as home_view
from backend.web.dependencies import SessionDep
from backend.web.page_common import page_router
from backend.web.templating import render

router = page_router()


@router.get("/")
def home(request: Request, session: SessionDep) -> HTMLResponse:
    """Live screens, slots, queue, latest runs, and what needs attention."""
    return render(request, "home.html", {"home": home_view.home(session)})
