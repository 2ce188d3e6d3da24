"""Closes websockets when the viewer leaves, even if there is nothing to send."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import WebSocket, WebSocketDisconnect

GONE = 4404
"""Close code: the resource does not exist; reconnecting is useless."""
ENDED = 4000
"""Close code: the attempt has ended, there are no further frames."""


async def until_closed(
    socket: WebSocket, sending: Coroutine[Any, Any, None], heard: Callable[[], None] = lambda: None
) -> None:
    """Runs `sending` until it ends or the viewer goes away; calls `heard` for each of the viewer's messages."""
    sender = asyncio.create_task(sending)
    listener = asyncio.create_task(_listen(socket, heard))
    await asyncio.wait({sender, listener}, return_when=asyncio.FIRST_COMPLETED)
    await over(sender, listener)


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
