"""`/benchmarks/{name}/analyses`: intermediate versus final results."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal
from urllib.parse import urlencode
from uuid import UUID

from fastapi import Query, Request
from fastapi.responses import HTMLResponse, Response

from backend.services.results import checkpoint_analyses as service
from backend.services.results.checkpoint_analyses import AnalysesView
from backend.web.dependencies import SessionDep
from backend.web.page_common import page_router
from backend.web.table_files import TableDep
from backend.web.templating import render

router = page_router()
Runs = Annotated[list[UUID] | None, Query(max_length=service.MOST)]
Table = Literal["level", "persona", "apps", "steps", "languages"]
CUTS = (("level", "by_level", "Level"), ("persona", "by_persona", "Persona"), ("apps", "by_apps", "Applications"))
"""Name in addresses, field of the analyses, heading."""


@router.get("/benchmarks/{name}/analyses")
def analyses(request: Request, session: SessionDep, name: str, run: Runs = None) -> HTMLResponse:
    """All of them, each as a table."""
    analyses = service.analyses(session, name, run or ())
    query = f"?{urlencode([('run', run_id) for run_id in run])}" if run else ""
    return render(request, "analyses.html", {"page": analyses, "cuts": CUTS, "asked": query})


@router.get("/benchmarks/{name}/analyses/{table}.csv")
def table(session: SessionDep, write: TableDep, name: str, table: Table, run: Runs = None) -> Response:
    """One of the tables."""
    analyses = service.analyses(session, name, run or ())
    head, rows = _HEADS[table], _rows(analyses, table)
    return write(f"{name}-{table}", head, rows)


_GAP = ("s_int", "s_final", "difference", "tasks")
_HEADS: dict[str, tuple[str, ...]] = {
    "level": ("configuration", "variant", "run", "level", *_GAP),
    "persona": ("configuration", "variant", "run", "persona", *_GAP),
    "apps": ("configuration", "variant", "run", "apps", *_GAP),
    "steps": ("configuration", "variant", "run", "level", "failed", "solved", "difference", "episodes"),
    "languages": (
        "configuration",
        "run_en",
        "run_cn",
        "level",
        "s_int_en",
        "s_int_cn",
        "s_final_en",
        "s_final_cn",
        "tasks",
    ),
}


def _rows(analyses: AnalysesView, table: Table) -> Iterator[list[Any]]:
    if table == "languages":
        for pair in analyses.languages:
            for level in pair.levels:
                measured = [level.s_int_en, level.s_int_cn, level.s_final_en, level.s_final_cn]
                yield [pair.configuration.name, str(pair.run_en), str(pair.run_cn), level.level, *measured, level.tasks]
        return
    for run in analyses.runs:
        names = [run.configuration.name, run.variant, str(run.run_id)]
        if table == "steps":
            for gap in run.steps:
                yield [*names, gap.level, gap.failed, gap.solved, gap.difference, gap.episodes]
        else:
            for cut in getattr(run, f"by_{table}"):
                yield [*names, cut.key, cut.s_int, cut.s_final, cut.difference, cut.tasks]
