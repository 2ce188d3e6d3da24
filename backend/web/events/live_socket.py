"""Live view: the newest frame of an attempt, as fast as the viewer can receive."""

import asyncio
import json
import time
from functools import partial
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, WebSocket

from backend.db.session import read_only
from backend.domain.errors import Unavailable
from backend.services.events import FULL_WIDTH, LiveFrame
from backend.services.runs import episodes
from backend.web.dependencies import AppContext
from backend.web.events.frame_feed import FrameFeed
from backend.web.socket_lifetime import ENDED, accept, until_closed

router = APIRouter()
STILL_SECONDS = 1.0
SAME_SECONDS = 0.01
"""How long one message serves all viewers of a frame: its ages may be that old."""
ANSWER_SECONDS = 15.0
"""Seconds after which a viewer that has not requested the next frame counts as gone."""


def is_live(edge: AppContext, attempt_id: UUID) -> bool:
    """Whether the attempt is live, in its own transaction. Raises NotFound."""
    with read_only(edge.factory) as session:
        return episodes.get_attempt(session, attempt_id).live


def pack_frame(frame: LiveFrame, last_picture: int | None = None) -> bytes:
    """One message: a JSON line, then the JPEG, which is left out if the viewer has that picture.

    In milliseconds, by this machine's clock: `age_ms` since the picture was taken, `unchanged_ms` since the screen
    changed, `answered_ms` since the desktop last answered.

    Args:
        frame: the newest frame.
        last_picture: number of the picture that the viewer has.
    """
    now, meta = time.time(), frame.meta
    captured = float(meta.get("captured_at") or now)
    moments = {
        "age_ms": captured,
        "unchanged_ms": float(meta.get("changed_at") or captured),
        "answered_ms": float(meta.get("answered_at") or captured),
    }
    ages = {name: max(0, round((now - moment) * 1000)) for name, moment in moments.items()}
    data = b"" if last_picture is not None and meta.get("picture") == last_picture else frame.data
    return json.dumps({**meta, "seq": frame.seq, **ages}).encode() + b"\n" + data


def message(feed: FrameFeed, frame: LiveFrame, last_picture: int | None) -> bytes:
    """`pack_frame`, once for all viewers of the feed who get the same at about the same time."""
    key = (frame.seq, last_picture is not None and frame.meta.get("picture") == last_picture)
    last_message, now = feed.message, time.monotonic()
    if last_message is None or last_message[0] != key or now - last_message[1] > SAME_SECONDS:
        last_message = feed.message = key, now, pack_frame(frame, last_picture)
    return last_message[2]


@router.websocket("/ws/attempts/{attempt_id}/live")
async def live(
    socket: WebSocket, attempt_id: UUID, width: Annotated[int, Query(ge=1, le=FULL_WIDTH)] = FULL_WIDTH
) -> None:
    """Sends binary messages: a JSON line `{seq, age_ms, ...}` and a JPEG. The viewer acknowledges each with any text.

    Without a JPEG the screen is still the same, and the desktop has answered. Pictures are as wide as the widest of
    all who watch wants them: `width` is what this viewer needs, in pixels.

    The next frame, always the newest, is sent after the acknowledgement: slow viewers skip frames and delay nobody. The
    worker knows meanwhile that somebody is watching.
    """
    edge: AppContext = socket.app.state.edge
    if not await accept(socket, partial(_is_live, edge, attempt_id), bool):
        return
    ack = asyncio.Event()
    async with edge.feeds.watch(attempt_id, partial(_is_still_live, edge, attempt_id), width) as feed:
        await until_closed(socket, _serve(socket, feed, ack), ack.set)


async def _serve(socket: WebSocket, feed: FrameFeed, ack: asyncio.Event) -> None:
    """Sends the newest frame, waits for the acknowledgement, then for a newer one."""
    sent: int | None = None
    last_picture: int | None = None
    while (frame := await feed.newer(sent)) is not None:
        sent = frame.seq
        ack.clear()
        await socket.send_bytes(message(feed, frame, last_picture))
        last_picture = frame.meta.get("picture")
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await ack.wait()
        except TimeoutError:
            await socket.close(1001, "the last frame was never taken")
            return
    await socket.close(ENDED, "the attempt has ended")


async def _is_live(edge: AppContext, attempt_id: UUID) -> bool:
    """Like `is_live`, read once for all viewers."""
    return await edge.reads.get(("live", attempt_id), STILL_SECONDS, lambda: is_live(edge, attempt_id))


async def _is_still_live(edge: AppContext, attempt_id: UUID) -> bool:
    """Like `_is_live`; an unavailable database does not end the view."""
    try:
        return await _is_live(edge, attempt_id)
    except Unavailable:
        return True
