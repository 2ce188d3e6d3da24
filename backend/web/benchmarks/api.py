"""Benchmarks and tasks: import, list, show, lint, validate; leaderboards."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import File, Form, Query, Request, Response, UploadFile
from sqlalchemy.orm import Session

from backend.domain.errors import Invalid, Unavailable, WebFailed
from backend.domain.model.label_filter import label_filter
from backend.domain.model.task import Difficulty, LoadedBenchmark
from backend.services.benchmarks import benchmarks as service
from backend.services.benchmarks import labels as label_service
from backend.services.benchmarks import versions as version_service
from backend.services.benchmarks.lint import LintReport, lint_report
from backend.services.benchmarks.views.benchmark import (
    BenchmarkDetail,
    ImportResult,
    LabelResult,
    PublishedResultView,
    newest_detail,
    reported_results,
)
from backend.services.benchmarks.views.published import (
    PublishedSuite,
    PublishedSuiteDetail,
    published_suite,
    published_suites,
)
from backend.services.benchmarks.views.task import TaskDetail, TaskView, task_detail, task_row, task_views
from backend.services.people import human_baselines
from backend.services.people.human_baselines import LabelBasis
from backend.services.results import empirical_difficulty
from backend.services.results.conditions import KEY_LENGTH
from backend.services.results.leaderboards import BoardOptions
from backend.services.results.views.leaderboard import board_of
from backend.services.results.views.leaderboard_models import Leaderboard
from backend.services.runs.validation import ValidationReport, start_validation, validation_report
from backend.web.api_common import Cursor, Id, Limit, Name, Page, Where, Word, api_router, next_page_url
from backend.web.benchmarks import schemas as benchmarks_schemas
from backend.web.benchmarks.uploads import load_url, load_zip
from backend.web.dependencies import ActorDep, AppContext, EdgeDep, NodePricesDep, ProjectDep, SessionDep, audited

router = api_router("benchmarks")
MOST_LABELS = 4 << 20
WRONG_ADDRESS = frozenset({"download_too_large", "host_not_resolved", "invalid_redirect", "too_many_redirects"})
"""Codes of downloads that fail again when they are repeated."""
TaskSetName = Annotated[str, Query(min_length=1, max_length=120, description="benchmark or benchmark@version")]
Version = Annotated[int | None, Query(ge=1, le=2**31, description="Of the task set; the newest if not given.")]


@router.get("/benchmarks")
def list_benchmarks(session: SessionDep) -> Page[BenchmarkDetail]:
    """List benchmarks by name."""
    rows = [newest_detail(session, row) for row in service.list_benchmarks(session)]
    return Page[BenchmarkDetail](items=rows)


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
    strict_upstream: Annotated[bool, Form(description="Metrics judge as published, faults included.")] = False,
) -> ImportResult:
    """Import a benchmark's files. Changed files create a new version; unchanged files do nothing (200)."""
    loaded = load_zip(kind, file.file, strict_upstream=strict_upstream)
    result = _import_result(session, edge, loaded, name or kind, title)
    response.status_code = 201 if result.created else 200
    return result


@router.post("/benchmarks/from-url", status_code=201)
def import_from_url(
    request: Request, edge: EdgeDep, response: Response, body: benchmarks_schemas.ImportFromUrl
) -> ImportResult:
    """Import a benchmark from the web; the service downloads it through its SSRF-safe client."""
    try:
        # No transaction is open while waiting for the network.
        loaded = load_url(body.kind, body.url, edge.web, strict_upstream=body.strict_upstream)
    except WebFailed as error:
        if error.code in WRONG_ADDRESS:
            raise Invalid(error.message, code="download_refused", path="url") from error
        raise Unavailable(
            error.message,
            code="download_failed",
            hint=error.hint or "Try again later, or download it and import the file.",
        ) from error
    with audited(edge, request) as session:
        result = _import_result(session, edge, loaded, body.name or body.kind, body.title)
    response.status_code = 201 if result.created else 200
    return result


def _import_result(session: Session, edge: AppContext, loaded: LoadedBenchmark, name: str, title: str) -> ImportResult:
    task_set, created = service.import_benchmark(session, loaded, name=name, title=title, store=edge.store)
    session.flush()  # The counts below are read again.
    view = newest_detail(session, service.get_benchmark(session, name))
    warnings = [str(warning) for warning in task_set.warnings]
    return ImportResult(benchmark=view, created=created, warnings=warnings)


@router.get("/benchmarks/{name}")
def show(session: SessionDep, name: Name) -> BenchmarkDetail:
    """Show a benchmark at its newest version."""
    return newest_detail(session, service.get_benchmark(session, name))


@router.get("/benchmarks/{name}/tasks")
def list_tasks(  # noqa: PLR0913 - one parameter per filter
    request: Request,
    session: SessionDep,
    name: Name,
    *,
    domain: Word = None,
    difficulty: Annotated[Difficulty | Literal["unlabelled"] | None, Query()] = None,
    q: Annotated[str, Query(max_length=200, description="Text in name or instruction.")] = "",
    where: Where = (),
    cursor: Cursor = None,
    limit: Limit = 100,
) -> Page[TaskView]:
    """List a benchmark's tasks."""
    newest = service.latest_task_set(session, name)
    conditions = label_filter(where)
    page = service.list_tasks(
        session,
        newest.id,
        domain=domain,
        difficulty=difficulty,
        words=q,
        where=conditions,
        cursor=cursor,
        limit=limit,
    )
    items = task_views(session, name, page.items)
    return Page[TaskView](items=items, next=next_page_url(request, page.next))


@router.get("/tasks/{task_id}")
def show_task(session: SessionDep, task_id: Id) -> TaskDetail:
    """Show one task in full."""
    return task_detail(session, task_row(session, task_id))


@router.get("/benchmarks/{name}/lint")
def lint(session: SessionDep, name: Name) -> LintReport:
    """Check every task: unknown names, wrong parameters, missing assets."""
    return lint_report(session, name)


@router.get("/benchmarks/{name}/selections")
def selections(session: SessionDep, name: Name) -> dict[str, list[str]]:
    """The named selections of the newest version: keys of their tasks. A run selects one as `@name`."""
    return service.selections(session, name)


@router.get("/published")
def list_published_suites(session: SessionDep) -> Page[PublishedSuite]:
    """List the published suites: paper, licence, files, how to import them, and whether they are."""
    return Page[PublishedSuite](items=published_suites(session))


@router.get("/published/{name}")
def show_published_suite(session: SessionDep, name: Name) -> PublishedSuiteDetail:
    """Show a published suite with all its figures; nothing needs to be imported."""
    return published_suite(session, name)


@router.get("/benchmarks/{name}/published-results")
def list_published_results(session: SessionDep, name: Name) -> Page[PublishedResultView]:
    """List published results of the benchmark, which were not measured here."""
    return Page[PublishedResultView](items=reported_results(session, name))


@router.post("/benchmarks/{name}/labels")
def import_labels(
    session: SessionDep,
    name: Name,
    file: Annotated[
        UploadFile, File(description="CSV: task, difficulty, source, human_seconds, human_steps, label:NAME.")
    ],
) -> LabelResult:
    """Import people's labels and times of tasks. They apply to every version and change no task set."""
    data = file.file.read(MOST_LABELS + 1)
    if len(data) > MOST_LABELS:
        raise Invalid(f"the file is larger than {MOST_LABELS >> 20} MiB", code="file_too_large", path="file")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise Invalid(f"not UTF-8 text: {error}", code="invalid_file", path="file") from error
    rows, tasks = label_service.import_labels(session, name, text)
    return LabelResult(rows=rows, tasks=tasks)


@router.post("/benchmarks/{name}/labels/people")
def label_by_people(
    session: SessionDep,
    name: Name,
    by: Annotated[
        LabelBasis, Query(description="Difficulty by people's median time, or by their median rating.")
    ] = LabelBasis.TIME,
) -> LabelResult:
    """Store people's results as labels: median steps and seconds of those who solved a task, difficulty."""
    rows, tasks = human_baselines.label_tasks(session, name, by)
    return LabelResult(rows=rows, tasks=tasks)


@router.post("/benchmarks/{name}/labels/solve-rates")
def label_by_solve_rate(session: SessionDep, name: Name) -> LabelResult:
    """Store terciles of agents' solve rates as labels, and as difficulty where no other source has one."""
    rows, tasks = empirical_difficulty.label_by_solve_rate(session, name)
    return LabelResult(rows=rows, tasks=tasks)


@router.get("/benchmark-diff")
def diff(session: SessionDep, old: TaskSetName, new: TaskSetName) -> version_service.TaskSetDifference:
    """Show what the task set `new` changes in `old`, and which stored scores of `old` are affected."""
    return version_service.diff(session, old, new)


@router.post("/benchmarks/{name}/validate", status_code=202)
def validate(session: SessionDep, project: ProjectDep, actor: ActorDep, name: Name) -> ValidationReport:
    """Start oracle, noop and always_fail on every task; results are at `/validation`."""
    start_validation(session, name, project=project, actor=actor)
    session.flush()  # The report below reads the new runs.
    return validation_report(session, name)


@router.get("/benchmarks/{name}/validation")
def validation(session: SessionDep, name: Name) -> ValidationReport:
    """Show the newest validation."""
    return validation_report(session, name)


@router.get("/leaderboards/{benchmark}", tags=["leaderboards"])
def board(  # noqa: PLR0913 - one parameter per choice of the reader
    session: SessionDep,
    benchmark: Name,
    version: Annotated[
        int | None, Query(ge=1, le=2**31, description="Of the task set; the newest with runs if not given.")
    ] = None,
    conditions: Annotated[
        str | None, Query(max_length=KEY_LENGTH, description="Key of the conditions of ranked rows.")
    ] = None,
    *,
    prices: NodePricesDep,
    common: Annotated[bool, Query(description="Rank on the tasks that all rows share.")] = False,
    configuration: Annotated[
        list[UUID], Query(max_length=100, description="With `common`: rank these only; all if not given.")
    ] = [],  # noqa: B006 - FastAPI's own form of it
    imported: Annotated[bool, Query(description="Rank imported results among the measured ones.")] = False,
    unknown: Annotated[
        bool, Query(description="With `imported`: take an unknown step budget or screen as equal.")
    ] = False,
) -> Leaderboard:
    """Show the leaderboard of a task set.

    Only rows that are alike, cover its tasks and lost at most 5 % are ranked; `reasons` says why others are not.
    """
    options = BoardOptions(conditions, common, configuration, imported, unknown)
    return board_of(session, benchmark, version, options, prices)
