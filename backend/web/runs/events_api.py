"""A run's events: pages of a list, or a live stream (server-sent events)."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import Header, Query, Request, Response
from fastapi.responses import StreamingResponse

from backend.addresses import API
from backend.domain.errors import Unavailable
from backend.domain.model.episode import ENDED_RUNS, RunState
from backend.services.events import list_after, patience, subscribe_run
from backend.services.events.views import EventView
from backend.services.runs import runs as service
from backend.web.accounts.authentication import is_still_signed_in
from backend.web.api_common import Id, Limit, Page, api_router
from backend.web.dependencies import AppContext, EdgeDep, only_read
from backend.web.security_middleware import RECHECK_SECONDS

router = api_router("runs")
STREAM = "text/event-stream"
STREAM_SECONDS = 600.0
"""How long a stream lasts. Clients come back by themselves, and are asked for their token again."""
QUIET_SECONDS = 15.0
"""After which a comment shows proxies that the stream lives."""
BATCH = 200
RETRY = b"retry: 2000\n\n"
_EXAMPLE = 'id: 1\nevent: run_submitted\ndata: {"seq":1,"kind":"run_submitted"}\n\n'
Seq = Annotated[int, Query(ge=0, le=2**62, description="Only events with a higher number.")]
LastEventId = Annotated[
    str | None,
    Header(max_length=30, pattern=r"^[0-9]{0,18}$", description="Of a stream: number of the last event received."),
]


@router.get(
    "/runs/{run_id}/events",
    response_model=Page[EventView],
    responses={
        200: {"content": {STREAM: {"schema": {"type": "string"}, "example": _EXAMPLE}}},
        204: {"description": "The run has ended, and a stream would have nothing to send: do not come back."},
    },
)
async def events(  # noqa: PLR0913 - what the edge gives, and where to begin
    request: Request,
    edge: EdgeDep,
    run_id: Id,
    *,
    after: Seq = 0,
    limit: Limit = 500,
    last_event_id: LastEventId = None,
) -> Page[EventView] | Response:
    """List a run's events after a number. They are numbered from 1 without gaps.

    With `Accept: text/event-stream` they come as server-sent events, named by their kind, until the run has ended. A
    stream lasts ten minutes at most; `Last-Event-ID` continues it.
    """
    if STREAM not in request.headers.get("accept", ""):
        rows, _ = await asyncio.to_thread(_read, edge, request, run_id, after, limit)
        more = f"{API}/runs/{run_id}/events?after={rows[-1].seq}&limit={limit}" if len(rows) == limit else None
        return Page[EventView](items=rows, next=more)
    seq = int(last_event_id) if last_event_id else after
    rows, ended = await asyncio.to_thread(_read, edge, request, run_id, seq, 1)
    if ended and not rows:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no", "Vary": "Accept"}
    return StreamingResponse(_stream(edge, request, run_id, seq), media_type=STREAM, headers=headers)


def _read(edge: AppContext, request: Request, run_id: UUID, seq: int, limit: int) -> tuple[list[EventView], bool]:
    """The next events, in a transaction of their own, and whether the run had ended before. Raises NotFound."""
    with only_read(edge, request) as session:
        ended = RunState(service.get_run(session, run_id).state) in ENDED_RUNS
        return [EventView.model_validate(row) for row in list_after(session, run_id, seq, limit)], ended


async def _stream(edge: AppContext, request: Request, run_id: UUID, seq: int) -> AsyncGenerator[bytes]:
    yield RETRY
    spoken = checked = time.monotonic()
    try:
        async with patience(STREAM_SECONDS), aclosing(subscribe_run(run_id, seq)) as signs:
            async for _ in signs:
                while True:
                    rows, ended = await _next(edge, request, run_id, seq)
                    if rows:
                        yield b"".join(map(_event, rows))
                        seq, spoken = rows[-1].seq, time.monotonic()
                    if len(rows) < BATCH:
                        break
                if ended:
                    yield b"event: end\ndata: {}\n\n"
                    return
                if time.monotonic() - checked > RECHECK_SECONDS:
                    checked = time.monotonic()
                    if not await is_still_signed_in(edge, request):
                        return
                if time.monotonic() - spoken > QUIET_SECONDS:
                    yield b": quiet\n\n"
                    spoken = time.monotonic()
    except TimeoutError:  # It lasted long enough, or this process stops: the client comes back.
        return


async def _next(edge: AppContext, request: Request, run_id: UUID, seq: int) -> tuple[list[EventView], bool]:
    try:
        return await asyncio.to_thread(_read, edge, request, run_id, seq, BATCH)
    except Unavailable:  # The database comes back, and with it what is missing here.
        return [], False


def _event(event: EventView) -> bytes:
    data = json.dumps(event.model_dump(mode="json"), ensure_ascii=False, separators=(",", ":"))
    return f"id: {event.seq}\nevent: {event.kind}\ndata: {data}\n\n".encode()
