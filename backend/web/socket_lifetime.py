"""Closes websockets when the viewer leaves, even if there is nothing to send."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from fastapi import WebSocket, WebSocketDisconnect

from backend.domain.errors import NotFound, Unavailable

T = TypeVar("T")
GONE = 4404
"""Close code: the resource does not exist; reconnecting is useless."""
ENDED = 4000
"""Close code: the attempt has ended, there are no further frames."""
BEAT_SECONDS = 15.0
"""Interval of `BEAT`: a page gives up a connection that says nothing for three of them."""
BEAT = '{"kind": "beat"}'
"""Text message that tells a page that its connection works, although nothing happens."""


async def accept(socket: WebSocket, read: Callable[[], Awaitable[T]], is_live: Callable[[T], bool]) -> T | None:
    """Accepts a connection to an attempt; closes it and returns None if there is no such attempt, or it has ended.

    Args:
        socket: the connection.
        read: reads the attempt. Raises NotFound, Unavailable.
        is_live: whether what was read belongs to an attempt that goes on.
    """
    await socket.accept()
    try:
        attempt = await read()
    except NotFound:
        await socket.close(GONE, "there is no such attempt")
    except Unavailable:
        await socket.close(1013, "the database does not answer")
    else:
        if is_live(attempt):
            return attempt
        await socket.close(ENDED, "the attempt has ended")
    return None


async def until_closed(
    socket: WebSocket, sending: Coroutine[Any, Any, None], heard: Callable[[], None] = lambda: None
) -> None:
    """Runs `sending` until it ends or the viewer goes away; calls `heard` for each of the viewer's messages.

    Sends beats meanwhile.
    """
    tasks = [asyncio.create_task(coroutine) for coroutine in (sending, _listen(socket, heard), beat(socket))]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    await over(*tasks)


async def beat(socket: WebSocket) -> None:
    """Sends beats until the connection ends."""
    while True:
        await asyncio.sleep(BEAT_SECONDS)
        await socket.send_text(BEAT)


async def over(*tasks: asyncio.Task[None]) -> None:
    """Cancels tasks until they have ended: a library may mistake a cancellation for a simultaneous timeout.

    Raises failures; the viewer's disconnect is not one.
    """
    going = {task for task in tasks if not task.done()}
    while going:
        for task in going:
            task.cancel()
        _, going = await asyncio.wait(going, timeout=1.0)
    for task in tasks:
        with contextlib.suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
            task.result()


async def _listen(socket: WebSocket, heard: Callable[[], None]) -> None:
    """Reads from the viewer until it disconnects, which only reading can detect."""
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        heard()
