"""Waiting for news with an end: after so many seconds, or as soon as this process is told to end."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

_waiting: set[asyncio.Timeout] = set()


@asynccontextmanager
async def patience(seconds: float) -> AsyncGenerator[None]:
    """`asyncio.timeout` that `end_patience` cuts short. Raises TimeoutError either way."""
    async with asyncio.timeout(seconds) as timer:
        _waiting.add(timer)
        try:
            yield
        finally:
            _waiting.discard(timer)


def end_patience() -> None:
    """Whoever waits is answered now, with things as they are. Call it in the event loop."""
    now = asyncio.get_running_loop().time()
    for timer in list(_waiting):
        if not timer.expired():
            timer.reschedule(now)
