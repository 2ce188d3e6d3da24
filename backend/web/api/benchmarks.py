"""Benchmarks and tasks: import, list, show, lint, validate; leaderboards."""

from typing import Annotated, Literal

from fastapi import File, Form, Query, Request, Response, UploadFile

from backend.db.repositories import benchmarks as benchmark_repository
from backend.db.repositories import tasks as task_repository
from backend.domain.benchmarks import lint as lint_task
from backend.domain.registry import load as load_plugins
from backend.domain.task import Difficulty, Task
from backend.services import benchmarks as service
from backend.services.leaderboards import leaderboard
from backend.services.validation import start_validation, validation_report
from backend.web.api import schemas, schemas_catalog, views_catalog
from backend.web.api.common import Cursor, Id, Limit, Name, Word, api_router, following
from backend.web.api.uploads import load_zip
from backend.web.api.views_runs import task_set
from backend.web.edge import ActorDep, EdgeDep, ProjectDep, SessionDep

router = api_router("benchmarks")
Version = Annotated[int | None, Query(ge=1, le=2**31, description="Of the task set; the newest if not given.")]


@router.get("/benchmarks")
def list_benchmarks(session: SessionDep) -> schemas.Page[schemas_catalog.BenchmarkView]:
    """List benchmarks by name."""
    rows = [views_catalog.benchmark(session, row) for row in service.list_benchmarks(session)]
    return schemas.Page[schemas_catalog.BenchmarkView](items=rows)


@router.post("/benchmarks", status_code=201)
def import_benchmark(  # noqa: PLR0913 - what the edge gives, and the form
    session: SessionDep,
    edge: EdgeDep,
    response: Response,
    *,
    kind: Annotated[str, Form(min_length=1, max_length=100, examples=["starter"])],
    file: Annotated[UploadFile, File(description="A zip of the benchmark's files.")],
    name: Annotated[str, Form(max_length=100, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$|^$")] = "",
    title: Annotated[str, Form(max_length=200)] = "",
) -> schemas_catalog.ImportResult:
    """Import a benchmark's files. Changed files make a new version; the same files change nothing (200)."""
    loaded = load_zip(kind, file.file)
    found, created = service.import_benchmark(session, loaded, name=name or kind, title=title, store=edge.store)
    session.flush()  # The counts below are read again.
    if not created:
        response.status_code = 200
    view = views_catalog.benchmark(session, service.get_benchmark(session, name or kind))
    warnings = [str(warning) for warning in found.warnings]
    return schemas_catalog.ImportResult(benchmark=view, created=created, warnings=warnings)


@router.get("/benchmarks/{name}")
def show(session: SessionDep, name: Name) -> schemas_catalog.BenchmarkView:
    """Show a benchmark at its newest version."""
    return views_catalog.benchmark(session, service.get_benchmark(session, name))


@router.get("/benchmarks/{name}/tasks")
def list_tasks(  # noqa: PLR0913 - one parameter per filter
    request: Request,
    session: SessionDep,
    name: Name,
    *,
    domain: Word = None,
    difficulty: Annotated[Difficulty | Literal["unlabelled"] | None, Query()] = None,
    words: Annotated[str, Query(max_length=200, description="Looked for in name and instruction.")] = "",
    cursor: Cursor = None,
    limit: Limit = 100,
) -> schemas.Page[schemas_catalog.TaskView]:
    """List a benchmark's tasks."""
    newest = service.latest_task_set(session, name)
    found = service.list_tasks(
        session, newest.id, domain=domain, difficulty=difficulty, words=words, cursor=cursor, limit=limit
    )
    aside = task_repository.quarantined(session, [row.id for row in found.items])
    items = [
        schemas_catalog.TaskView.model_validate(
            views_catalog.task_fields(row, name, aside[row.id].reason if row.id in aside else "")
        )
        for row in found.items
    ]
    return schemas.Page[schemas_catalog.TaskView](items=items, next=following(request, found.next))


@router.get("/tasks/{task_id}")
def show_task(session: SessionDep, task_id: Id) -> schemas_catalog.TaskDetail:
    """Show one task in full."""
    from backend.services.pages_benchmarks import task_page

    row = service.get_task(session, task_id)
    page = task_page(session, task_id)
    versions = service.list_task_sets(session, page.benchmark)
    own = next(version for version in versions if version.id == row.task_set_id)
    checks = page.checks
    validation = schemas_catalog.Validation(
        task=page.task,
        feasible=page.feasible,
        oracle=checks.scores.get("oracle"),
        noop=checks.scores.get("noop"),
        always_fail=checks.scores.get("always_fail"),
        sound=checks.sound,
        reason="; ".join(checks.wrong or []),
    )
    fields = views_catalog.task_fields(row, page.benchmark, page.quarantined)
    more = {"task_set": task_set(own), "content_hash": row.content_hash, "spec": row.spec, "validation": validation}
    return schemas_catalog.TaskDetail.model_validate({**fields, **more})


@router.get("/benchmarks/{name}/lint")
def lint(session: SessionDep, name: Name) -> schemas_catalog.LintReport:
    """Look for mistakes in every task: unknown names, wrong parameters, missing assets."""
    load_plugins()
    newest = service.latest_task_set(session, name)
    rows = task_repository.all_of(session, newest.id)
    assets = benchmark_repository.assets(session, newest.id)
    findings = [_finding(row.key, line) for row in rows for line in lint_task(Task.model_validate(row.spec), assets)]
    odd = [
        schemas_catalog.LintFinding(task="", path="", message=str(warning), severity="warning")
        for warning in newest.warnings
    ]
    return schemas_catalog.LintReport(benchmark=name, ok=not findings, tasks=len(rows), findings=[*findings, *odd])


def _finding(task: str, line: str) -> schemas_catalog.LintFinding:
    """`place: what is wrong` as a finding."""
    place, colon, message = line.partition(": ")
    return schemas_catalog.LintFinding(task=task, path=place if colon else "", message=message if colon else line)


@router.post("/benchmarks/{name}/validate", status_code=202)
def validate(session: SessionDep, project: ProjectDep, actor: ActorDep, name: Name) -> schemas_catalog.ValidationReport:
    """Start oracle, noop and always_fail on every task; look at `/validation` for what they find."""
    start_validation(session, name, project=project, actor=actor)
    session.flush()  # The report below reads the new runs.
    return views_catalog.report(validation_report(session, name))


@router.get("/benchmarks/{name}/validation")
def validation(session: SessionDep, name: Name) -> schemas_catalog.ValidationReport:
    """What the newest validation found."""
    return views_catalog.report(validation_report(session, name))


@router.get("/leaderboards/{benchmark}", tags=["leaderboards"])
def board(session: SessionDep, benchmark: Name, version: Version = None) -> schemas_catalog.Leaderboard:
    """Who is better on a task set. Floors and agents that see the task have no rank."""
    return views_catalog.leaderboard(leaderboard(session, benchmark, version=version))
