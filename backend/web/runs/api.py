"""Runs: submit, import, list, show (and wait), control, events, summary."""

import asyncio
import re
from collections.abc import Sequence
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Depends, Header, Query, Request, Response
from sqlalchemy.orm import Session
from starlette.types import Receive, Scope, Send

from backend.addresses import API
from backend.db import models
from backend.db.models.enums import Purpose
from backend.db.session import read_only
from backend.domain.model.episode import ENDED_RUNS, EpisodeState, RunState
from backend.domain.model.task import Difficulty
from backend.services.accounts import audit
from backend.services.capacity.run_request import RunRequest
from backend.services.capacity.scheduling_fields import SchedulingUpdate
from backend.services.capacity.worker_capabilities import missing_worker_notice
from backend.services.events import patience, subscribe_run
from backend.services.results.run_summaries import summaries
from backend.services.results.run_summaries import summary as summary_of
from backend.services.runs import episodes as episode_service
from backend.services.runs import runs as service
from backend.services.runs.episodes import EpisodeSummary
from backend.services.runs.estimates import RunEstimate, estimate
from backend.services.runs.forecast import Forecast, forecast
from backend.services.runs.outside_runs import import_results
from backend.services.runs.scheduling_settings import update_scheduling
from backend.services.runs.summary import RunSummary
from backend.services.runs.views.episode import EpisodeView, episode_view
from backend.services.runs.views.run import ChangeResult, ConcurrencyView, RunView, run_views
from backend.services.scheduling.wait_reasons import concurrency_of, explain
from backend.web.api_common import Cursor, Id, Limit, Page, Word, api_router, next_page_url
from backend.web.dependencies import ActorDep, AppContext, EdgeDep, ProjectDep, SessionDep
from backend.web.runs import schemas

router = api_router("runs")
LONGEST_WAIT = 300.0
Include = Annotated[
    Literal["episodes"] | None,
    Query(description="`episodes`: the run with all its episodes; for parts of many see `/runs/{run_id}/episodes`."),
]


def request_of(body: schemas.RunSubmit) -> RunRequest:
    """The service's request from the body."""
    # Omitted fields are not set, so that a preset may set them.
    return RunRequest.model_validate(body.model_dump(exclude_unset=True))


def run_detail(session: Session, run: models.Run) -> RunView:
    """A run with its summary and its current limits."""
    (view,) = run_views(session, [run], {run.id: summary_of(session, run)})
    return view.model_copy(
        update={"effective_concurrency": ConcurrencyView.from_concurrency(concurrency_of(session, run.id))}
    )


async def wait_seconds(prefer: Annotated[str | None, Header(examples=["wait=30"])] = None) -> float:
    """Seconds of `Prefer: wait=N` (RFC 7240), at most 300; 0 without it."""
    match = re.search(r"(?:^|[,;\s])wait\s*=\s*\"?(\d{1,6})\"?", prefer or "")
    return min(float(match.group(1)), LONGEST_WAIT) if match else 0.0


WaitSeconds = Annotated[float, Depends(wait_seconds)]


class RunAtEnd(Response):
    """The answer of a submission that waits, once it is committed, for the run's end."""

    def __init__(self, edge: AppContext, run: RunView, seconds: float) -> None:
        headers = {"Location": f"{API}/runs/{run.id}", "Preference-Applied": f"wait={seconds:.0f}"}
        super().__init__(run.model_dump_json(), 201, headers, "application/json")
        self._edge, self._run, self._seconds = edge, run, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Waits and sends the run as it is then."""
        await wait_for_end(self._edge, self._run.id, self._seconds)
        run = await asyncio.to_thread(show_now, self._edge, self._run.id, episodes=False)
        self.body = run.model_copy(update={"notice": self._run.notice}).model_dump_json().encode()
        self.headers["content-length"] = str(len(self.body))
        await super().__call__(scope, receive, send)


@router.post("/runs", status_code=201, response_model=RunView)
def submit_run(  # noqa: PLR0913, PLR0917 - what the edge gives, the body, how long to wait
    session: SessionDep,
    project: ProjectDep,
    actor: ActorDep,
    edge: EdgeDep,
    body: schemas.RunSubmit,
    response: Response,
    *,
    seconds: WaitSeconds,
) -> RunView | Response:
    """Start a run. Nothing starts unless the whole request is valid.

    Before a worker has registered it is accepted and waits; `notice` says so. `Prefer: wait=N` waits for its end, at
    most N seconds.
    """
    run = service.submit_run(session, request_of(body), project=project, actor=actor)
    response.headers["Location"] = f"{API}/runs/{run.id}"
    view = run_detail(session, run).model_copy(update={"notice": missing_worker_notice(session)})
    return RunAtEnd(edge, view, seconds) if seconds else view


@router.post("/runs/import", status_code=201)
def import_run(
    session: SessionDep, project: ProjectDep, actor: ActorDep, body: schemas.OutsideResultsBody, response: Response
) -> RunView:
    """Import results that another tool measured as a completed run. It is marked, and not ranked with measured ones.

    Nothing is imported unless all of it is valid.
    """
    run = import_results(
        session,
        body.results,
        benchmark=body.benchmark,
        version=body.version,
        name=body.name,
        project=project,
        actor=actor,
    )
    response.headers["Location"] = f"{API}/runs/{run.id}"
    return run_detail(session, run)


@router.post("/runs/forecast")
def forecast_run(session: SessionDep, body: schemas.RunSubmit) -> Forecast:
    """Forecast a run's cost and statistical power. Starts nothing."""
    audit.record_nothing(session)
    return forecast(session, request_of(body))


@router.post("/runs/estimate")
def estimate_run(session: SessionDep, body: schemas.RunSubmit) -> RunEstimate:
    """Estimate a run's time, desktop hours, tokens and cost from earlier runs, with ranges. Starts nothing."""
    audit.record_nothing(session)
    return estimate(session, request_of(body))


@router.get("/runs")
def list_runs(  # noqa: PLR0913 - one parameter per filter
    request: Request,
    session: SessionDep,
    project: ProjectDep,
    *,
    status: Annotated[RunState | None, Query()] = None,
    benchmark: Word = None,
    agent: Word = None,
    configuration: UUID | None = None,
    purpose: Annotated[Purpose | None, Query()] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[RunView]:
    """List runs, newest first."""
    page = service.list_runs(
        session,
        project,
        cursor=cursor,
        limit=limit,
        states=[status] if status else [],
        benchmark=benchmark,
        agent=agent,
        configuration=configuration,
        purposes=[purpose] if purpose else [],
    )
    items = run_views(session, page.items, summaries(session, page.items))
    return Page[RunView](items=items, next=next_page_url(request, page.next))


def state_now(edge: AppContext, run_id: UUID) -> RunState:
    """The run's state, read in its own transaction. Raises NotFound."""
    with read_only(edge.factory) as session:
        return RunState(service.get_run(session, run_id).state)


async def wait_for_end(edge: AppContext, run_id: UUID, seconds: float) -> None:
    """Waits until the run has ended or the time is over. Holds no session while waiting."""

    async def until_ended() -> None:
        async for _ in subscribe_run(run_id, 0):
            if await asyncio.to_thread(state_now, edge, run_id) in ENDED_RUNS:
                return

    try:
        async with patience(seconds):
            await until_ended()
    except TimeoutError:
        return


def show_now(edge: AppContext, run_id: UUID, *, episodes: bool) -> RunView:
    """The run's current state, read in its own transaction."""
    with read_only(edge.factory) as session:
        run = service.get_run(session, run_id)
        view = run_detail(session, run)
        if not episodes:
            return view
        return view.model_copy(update={"episodes": episode_views(session, run, all_episodes(session, run_id))})


def all_episodes(session: Session, run_id: UUID) -> list[EpisodeSummary]:
    """Every episode of a run, in order."""
    rows: list[EpisodeSummary] = []
    cursor: str | None = None
    while True:
        page = episode_service.list_episodes(session, run_id=run_id, cursor=cursor, limit=500)
        rows += page.items
        if page.next is None:
            return rows
        cursor = page.next


def episode_views(session: Session, run: models.Run, rows: Sequence[EpisodeSummary]) -> list[EpisodeView]:
    """Episodes of a run with their wait reasons, from one snapshot of the queue."""
    wait_reasons = explain(session, [row.episode for row in rows])
    return [episode_view(row, run.config, wait_reasons.get(row.episode.id)) for row in rows]


@router.get("/runs/{run_id}")
async def get_run(
    edge: EdgeDep,
    run_id: Id,
    response: Response,
    seconds: WaitSeconds,
    include: Include = None,
) -> RunView:
    """Show a run. `Prefer: wait=N` waits for its end, at most N seconds."""
    await asyncio.to_thread(state_now, edge, run_id)
    if seconds > 0:
        await wait_for_end(edge, run_id, seconds)
        response.headers["Preference-Applied"] = f"wait={seconds:.0f}"
    return await asyncio.to_thread(show_now, edge, run_id, episodes=include == "episodes")


@router.get("/runs/{run_id}/summary")
def get_run_summary(session: SessionDep, run_id: Id) -> RunSummary:
    """The run's summary."""
    return summary_of(session, service.get_run(session, run_id))


@router.get("/runs/{run_id}/episodes")
def list_episodes(  # noqa: PLR0913 - one parameter per filter
    request: Request,
    session: SessionDep,
    run_id: Id,
    *,
    state: Annotated[EpisodeState | None, Query()] = None,
    domain: Word = None,
    difficulty: Annotated[Difficulty | Literal["unlabelled"] | None, Query()] = None,
    cursor: Cursor = None,
    limit: Limit = 100,
) -> Page[EpisodeView]:
    """List a run's episodes in order of submission.

    Waiting ones have a reason, their position and an estimated start.
    """
    run = service.get_run(session, run_id)
    page = episode_service.list_episodes(
        session,
        run_id=run_id,
        states=[state] if state else [],
        domain=domain,
        difficulty=difficulty,
        cursor=cursor,
        limit=limit,
    )
    return Page[EpisodeView](items=episode_views(session, run, page.items), next=next_page_url(request, page.next))


def change_result(run: models.Run, episodes: int) -> ChangeResult:
    """The response to a command."""
    return ChangeResult(run=run.id, status=run.state, episodes=episodes)


def waiting(session: Session, run_id: UUID) -> int:
    """Number of waiting episodes."""
    return episode_service.number_waiting(session, run_id)


@router.patch("/runs/{run_id}")
def change_scheduling(session: SessionDep, run_id: Id, body: schemas.SchedulingBody) -> RunView:
    """Change a run's scheduling settings, from the next claim on. Results are unaffected. Safe to repeat."""
    return run_detail(
        session,
        update_scheduling(session, run_id, SchedulingUpdate.model_validate(body.model_dump(exclude_unset=True))),
    )


@router.post("/runs/{run_id}/pause")
def pause_run(session: SessionDep, run_id: Id) -> ChangeResult:
    """Pause a run: running episodes continue, no further ones start. Safe to repeat."""
    return change_result(service.pause_run(session, run_id), waiting(session, run_id))


@router.post("/runs/{run_id}/resume")
def resume_run(session: SessionDep, run_id: Id) -> ChangeResult:
    """Resume a paused run. Safe to repeat."""
    return change_result(service.resume_run(session, run_id), waiting(session, run_id))


@router.post("/runs/{run_id}/cancel")
def cancel_run(session: SessionDep, run_id: Id) -> ChangeResult:
    """Cancel a run: waiting episodes at once, running ones before their next step. Safe to repeat."""
    service.get_run(session, run_id)
    number = waiting(session, run_id)
    return change_result(service.cancel_run(session, run_id), number)


@router.post("/runs/{run_id}/close")
def close_run(session: SessionDep, run_id: Id) -> ChangeResult:
    """Close an open run to further episodes. Safe to repeat."""
    return change_result(service.close_run(session, run_id), 0)


@router.post("/runs/{run_id}/retry")
def retry_episodes(session: SessionDep, run_id: Id, body: schemas.RetryBody | None = None) -> ChangeResult:
    """Retry lost episodes, or those that could not run here and now can."""
    options = body or schemas.RetryBody()
    number = service.retry_run(
        session, run_id, failure_classes=options.failure_classes, not_runnable=options.not_runnable
    )
    return change_result(service.get_run(session, run_id), number)


@router.post("/runs/{run_id}/episodes", status_code=201)
def add_episodes(session: SessionDep, run_id: Id, body: schemas.AddEpisodesBody) -> ChangeResult:
    """Add episodes to an open run."""
    number = service.add_episodes(session, run_id, body.tasks, body.repeats, where=body.where)
    return change_result(service.get_run(session, run_id), number)
