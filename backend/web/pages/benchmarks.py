"""`/benchmarks` and `/benchmarks/{name}`: what does it contain, in which state is it?"""

from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import HTMLResponse

from backend.services import pages_benchmarks
from backend.web.edge import SessionDep
from backend.web.pages.common import Text, page_router
from backend.web.templating import render

router = page_router()


@router.get("/benchmarks")
def benchmarks(request: Request, session: SessionDep) -> HTMLResponse:
    """Every benchmark."""
    return render(request, "benchmarks.html", {"benchmarks": pages_benchmarks.benchmark_list(session)})


@router.get("/benchmarks/{name}")
def benchmark(  # noqa: PLR0913 - one parameter per filter in the address
    request: Request,
    session: SessionDep,
    name: str,
    *,
    version: Annotated[int | None, Query(ge=1, le=2**31)] = None,
    domain: Text = "",
    difficulty: Text = "",
    q: Text = "",
    after: Text = "",
) -> HTMLResponse:
    """One benchmark at one version."""
    filters = {"domain": domain, "difficulty": difficulty, "q": q}
    folder, slash, task = after.partition("/")
    page = pages_benchmarks.benchmark_page(session, name, version, filters, (folder, task) if slash else None)
    return render(request, "benchmark.html", {"page": page, "filters": filters, "after": after})
