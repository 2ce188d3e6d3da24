"""Websockets of events: one run's numbered events, or a signal for changes in any run."""

import asyncio
from contextlib import aclosing
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, WebSocket

from backend.db.session import read_only
from backend.domain.errors import NotFound, Unavailable
from backend.services.capacity.live_marks import LiveMarks, live_marks
from backend.services.events import list_after, log, subscribe_run
from backend.services.events.views import EventView
from backend.services.runs import runs as service
from backend.web.dependencies import AppContext
from backend.web.socket_lifetime import GONE, until_closed

router = APIRouter()
HOME_SECONDS = 1.0
WAITS = {"kind": "waits"}
BATCH = 200
MOST_BATCHES = 50


def read_after(edge: AppContext, run_id: UUID, seq: int) -> list[dict[str, Any]]:
    """The next events of a run, in its own transaction."""
    with read_only(edge.factory) as session:
        rows = list_after(session, run_id, seq, BATCH)
        return [EventView.model_validate(row).model_dump(mode="json") for row in rows]


def newest_seq(edge: AppContext, run_id: UUID) -> int:
    """Number of the run's newest event. Raises NotFound if the run does not exist."""
    with read_only(edge.factory) as session:
        service.get_run(session, run_id)
        return log.newest_seq(session, run_id)


@router.websocket("/ws/runs/{run_id}/events")
async def run_events(
    socket: WebSocket, run_id: UUID, after: Annotated[int | None, Query(ge=0, le=2**62)] = None
) -> None:
    """Sends every event after a number, one JSON object each; without a number, those from now on.

    Sends `WAITS` when attempts begin or end waiting for a model, or their worker falls silent or comes back. Postgres
    is read whenever Redis announces changes, and at least every 2 s.
    """
    edge: AppContext = socket.app.state.edge
    # Before accepting, so that the client misses nothing from then on.
    newest, refused = 0, (0, "")
    try:
        newest = await asyncio.to_thread(newest_seq, edge, run_id)
    except NotFound:
        refused = GONE, "there is no such run"
    except Unavailable:
        refused = 1013, "the database does not answer"
    await socket.accept()
    if refused[0]:
        await socket.close(*refused)
        return
    await until_closed(socket, _send_run(socket, edge, run_id, newest if after is None else after))


async def _send_run(socket: WebSocket, edge: AppContext, run_id: UUID, seq: int) -> None:
    marks = await _live_marks(edge, run_id, None)
    async with aclosing(subscribe_run(run_id, seq)) as signs:
        async for _ in signs:
            known, marks = marks, await _live_marks(edge, run_id, marks)
            if marks != known:
                await socket.send_json(WAITS)
            for _ in range(MOST_BATCHES):
                try:
                    rows = await asyncio.to_thread(read_after, edge, run_id, seq)
                except Unavailable:
                    rows = []
                for row in rows:
                    await socket.send_json(row)
                    seq = row["seq"]
                if len(rows) < BATCH:
                    break


async def _live_marks(edge: AppContext, run_id: UUID, known: LiveMarks | None) -> LiveMarks | None:
    """Waits of a run's attempts; the last known ones while the database is unavailable."""

    def read() -> LiveMarks:
        with read_only(edge.factory) as session:
            return live_marks(session, run_id)

    try:
        return await edge.reads.get(("live marks", run_id), HOME_SECONDS, read)
    except Unavailable:
        return known


def newest_of_all(edge: AppContext) -> tuple[UUID | None, LiveMarks]:
    """Id of the newest event of any run, and what attempts wait for, in their own transaction."""
    with read_only(edge.factory) as session:
        return log.newest_id(session), live_marks(session)


@router.websocket("/ws/events")
async def all_events(socket: WebSocket) -> None:
    """Sends a small object whenever something has happened in any run, at most once a second."""
    edge: AppContext = socket.app.state.edge
    newest_sent = await _newest(edge, None)
    await socket.accept()
    await until_closed(socket, _send_signs(socket, edge, newest_sent))


Newest = tuple[UUID | None, LiveMarks]


async def _newest(edge: AppContext, known: Newest | None) -> Newest | None:
    """The newest state, read once a second for all viewers; the known one while the database is unavailable."""
    try:
        return await edge.reads.get("newest of all", HOME_SECONDS, lambda: newest_of_all(edge))
    except Unavailable:
        return known


async def _send_signs(socket: WebSocket, edge: AppContext, known: Newest | None) -> None:
    while True:
        newest = await _newest(edge, known)
        if newest is not None and newest != known:
            await socket.send_json({"kind": "changed", "event": str(newest[0])})
        known = newest
        await asyncio.sleep(HOME_SECONDS)
