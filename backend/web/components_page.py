"""`/components`: every component of the pages in every state, for who changes them."""

from datetime import UTC, datetime, timedelta

from fastapi import Request
from fastapi.responses import HTMLResponse

from backend.domain.errors import NotFound
from backend.domain.model.episode import RunState
from backend.domain.model.outcome_style import LABELS, OutcomeCounts
from backend.web.dependencies import EdgeDep
from backend.web.page_common import page_router
from backend.web.templating import render

router = page_router()


@router.get("/components")
def components(request: Request, edge: EdgeDep) -> HTMLResponse:
    """All of them with made-up values; reads nothing."""
    if not edge.settings.development:
        raise NotFound(
            "this page is for development", code="page_not_found", hint="Set DESKARENA_DEVELOPMENT=true to see it."
        )
    now = datetime.now(UTC)
    values = {
        "counts": OutcomeCounts({style: 3 + 2 * index for index, style in enumerate(LABELS)}),
        "statuses": list(RunState),
        "moments": [now - timedelta(seconds=age) for age in (5, 400, 9000, 10**6)],
    }
    return render(request, "components.html", values)
