"""Waiting with an end: after the given seconds, or when this process is stopped."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

_waiting: set[asyncio.Timeout] = set()


@asynccontextmanager
async def patience(seconds: float) -> AsyncGenerator[None]:
    """`asyncio.timeout` that `end_patience` ends early. Raises TimeoutError in both cases."""
    async with asyncio.timeout(seconds) as timer:
        _waiting.add(timer)
        try:
            yield
        finally:
            _waiting.discard(timer)


def end_patience() -> None:
    """Ends all waits now, with the current state. Call it in the event loop."""
    now = asyncio.get_running_loop().time()
    for timer in list(_waiting):
        if not timer.expired():
            timer.reschedule(now)
