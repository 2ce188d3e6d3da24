"""`/benchmarks`, `/benchmarks/{name}`, `/benchmarks/{name}/diff`: content and health of benchmarks."""

from functools import partial
from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import HTMLResponse, Response

from backend.services.benchmarks import labels as label_service
from backend.services.benchmarks import versions
from backend.services.benchmarks.views import benchmark_page
from backend.services.capacity.views.capabilities import LOCAL, abilities
from backend.services.results.leaderboards import other_version_with_runs
from backend.web.api_common import Where
from backend.web.dependencies import SessionDep
from backend.web.page_common import OrderDep, Text, known_order, next_page, page_router
from backend.web.table_files import TableDep
from backend.web.templating import render

router = page_router()
Version = Annotated[int | None, Query(ge=1, le=2**31)]


@router.get("/benchmarks")
def benchmarks(request: Request, session: SessionDep) -> HTMLResponse:
    return render(request, "benchmarks.html", {"benchmarks": benchmark_page.benchmark_list(session)})


@router.get("/benchmarks/{name}")
def benchmark(  # noqa: PLR0913 - one parameter per filter in the address
    request: Request,
    session: SessionDep,
    name: str,
    *,
    version: Version = None,
    domain: Text = "",
    difficulty: Text = "",
    q: Text = "",
    where: Where = (),
    order: OrderDep,
    after: Text = "",
) -> HTMLResponse:
    """One benchmark at one version."""
    filters = {"domain": domain, "difficulty": difficulty, "q": q}
    folder, slash, task = after.partition("/")
    why_not = partial(abilities(session).why_not, LOCAL)
    start = (folder, task) if slash else None
    order = known_order(order, benchmark_page.TASK_COLUMNS)
    page = benchmark_page.benchmark_page(
        session, name, version, filters, start, where=where, why_not=why_not, order=order
    )
    filter_values = {**filters, "where": list(where)}
    without = page.tasks and not any(row.scored or row.lost for row in page.tasks)
    other = other_version_with_runs(session, name, page.task_set.version) if without else None
    values = {"page": page, "benchmark": page.benchmark, "filters": filter_values, "with_runs": other}
    values |= {"by": benchmark_page.TASK_COLUMNS, "begun": bool(after) if order is None else order.page > 1}
    values["next"] = next_page(order, after=page.next and "/".join(page.next))
    return render(request, "benchmark.html", values)


@router.get("/benchmarks/{name}/labels.csv")
def labels(session: SessionDep, write: TableDep, name: str, version: Version = None) -> Response:
    """Every label of every task, one a row."""
    return write(f"{name}-labels", ("task", "label", "value"), label_service.label_rows(session, name, version))


@router.get("/benchmarks/{name}/diff")
def difference(request: Request, session: SessionDep, name: str, old: Text = "", new: Text = "") -> HTMLResponse:
    """Differences between two task sets: `old` and `new` are `benchmark[@version]`."""
    difference = versions.diff(session, old or f"{name}@1", new or name)
    return render(request, "benchmark_diff.html", {"page": difference, "name": name})
