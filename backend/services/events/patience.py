"""Waiting with an end: after the given seconds, or when this process is stopped."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

AGAIN_SECONDS = 0.5
_waiting: set[asyncio.Timeout] = set()


@asynccontextmanager
async def patience(seconds: float) -> AsyncGenerator[None]:
    """`asyncio.timeout` that `end_patience` ends early. Raises TimeoutError in both cases.

    It cancels until the wait has ended: a library may mistake the cancellation for a simultaneous timeout of its own,
    and `asyncio.timeout` cancels once.
    """
    task, repeated = asyncio.current_task(), 0

    async def cancel_again() -> None:
        nonlocal repeated
        while True:
            await asyncio.sleep(AGAIN_SECONDS)
            if timer.expired() and task is not None:
                repeated += 1
                task.cancel()

    async with asyncio.timeout(seconds) as timer:
        _waiting.add(timer)
        repeating = asyncio.create_task(cancel_again())
        try:
            yield
        finally:
            repeating.cancel()
            _waiting.discard(timer)
            for _ in range(repeated):
                if task is not None:
                    task.uncancel()


def end_patience() -> None:
    """Ends all waits now, with the current state. Call it in the event loop."""
    now = asyncio.get_running_loop().time()
    for timer in list(_waiting):
        if not timer.expired():
            timer.reschedule(now)
