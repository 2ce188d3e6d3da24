"""`/benchmarks`, `/benchmarks/{name}`, `/benchmarks/{name}/diff`: content and health of benchmarks."""

from functools import partial
from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import HTMLResponse

from backend.services.benchmarks import versions
from backend.services.benchmarks.views import benchmark_page
from backend.services.capacity.views.capabilities import LOCAL, abilities
from backend.web.dependencies import SessionDep
from backend.web.page_common import Text, page_router
from backend.web.templating import render

router = page_router()


@router.get("/benchmarks")
def benchmarks(request: Request, session: SessionDep) -> HTMLResponse:
    return render(request, "benchmarks.html", {"benchmarks": benchmark_page.benchmark_list(session)})


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
    why_not = partial(abilities(session).why_not, LOCAL)
    start = (folder, task) if slash else None
    page = benchmark_page.benchmark_page(session, name, version, filters, start, why_not=why_not)
    values = {"page": page, "benchmark": page.benchmark, "filters": filters, "after": after}
    return render(request, "benchmark.html", values)


@router.get("/benchmarks/{name}/diff")
def difference(request: Request, session: SessionDep, name: str, old: Text = "", new: Text = "") -> HTMLResponse:
    """Differences between two task sets: `old` and `new` are `benchmark[@version]`."""
    difference = versions.diff(session, old or f"{name}@1", new or name)
    return render(request, "benchmark_diff.html", {"page": difference, "name": name})
