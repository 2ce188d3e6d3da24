import asyncio
from importlib import import_module

import pytest

from backend.services.events.patience import end_patience, patience

MODULE = import_module("backend.services.events.patience")
"""The package has the function under this name."""


async def swallow_once() -> None:
    """Waits for ever, and takes the first cancellation for something else."""
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        await asyncio.Event().wait()


async def waited(seconds: float, *, end: bool = False) -> int:
    """Waits until the patience ends; how often the task is still cancelled then."""
    if end:
        asyncio.get_running_loop().call_soon(end_patience)
    with pytest.raises(TimeoutError):
        async with patience(seconds):
            await swallow_once()
    task = asyncio.current_task()
    assert task is not None
    return task.cancelling()


@pytest.mark.parametrize(("seconds", "end"), [(5e-324, False), (0.001, False), (60.0, True)])
def test_a_swallowed_cancellation_is_repeated(monkeypatch: pytest.MonkeyPatch, seconds: float, *, end: bool) -> None:
    monkeypatch.setattr(MODULE, "AGAIN_SECONDS", 0.001)
    assert asyncio.run(asyncio.wait_for(waited(seconds, end=end), 10)) == 0


def test_does_not_end_before_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODULE, "AGAIN_SECONDS", 0.001)

    async def short() -> str:
        ended = asyncio.Event()
        asyncio.get_running_loop().call_later(0.02, ended.set)
        async with patience(60):
            await ended.wait()
        return "done"

    assert asyncio.run(short()) == "done"
