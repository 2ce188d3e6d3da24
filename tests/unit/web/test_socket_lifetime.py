"""A live view ends with its viewer, whatever else happens in the same moment."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import pytest

from backend.services.events import LiveFrame
from backend.web.events import live_socket
from backend.web.socket_lifetime import over, until_closed


class Viewer:
    """A websocket whose viewer takes a frame and leaves, both before anybody else gets a turn."""

    def __init__(self) -> None:
        self.sent = asyncio.Event()
        self.said: list[dict[str, Any]] = [{"type": "websocket.receive"}, {"type": "websocket.disconnect"}]

    async def send_bytes(self, data: bytes) -> None:
        self.sent.set()

    async def receive(self) -> dict[str, Any]:
        await self.sent.wait()
        return self.said.pop(0)


def test_a_frame_taken_in_the_moment_of_leaving_ends_the_view(monkeypatch: pytest.MonkeyPatch) -> None:
    async def one_sign(attempt_id: UUID) -> Any:
        yield None
        await asyncio.Event().wait()

    async def frame(attempt_id: UUID) -> LiveFrame:
        return LiveFrame(1, b"", {})

    async def leaving() -> None:
        viewer, taken = Viewer(), asyncio.Event()
        serving = live_socket._serve(viewer, None, uuid4(), taken)  # type: ignore[arg-type]
        async with asyncio.timeout(5):
            await until_closed(viewer, serving, taken.set)  # type: ignore[arg-type]

    monkeypatch.setattr(live_socket, "_signs", one_sign)
    monkeypatch.setattr(live_socket, "latest_frame", frame)
    asyncio.run(leaving())


def test_a_cancellation_that_a_library_swallows_is_said_again() -> None:
    async def stubborn() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.Event().wait()

    async def ending() -> None:
        task = asyncio.create_task(stubborn())
        await asyncio.sleep(0)
        async with asyncio.timeout(10):
            await over(task)
        assert task.cancelled()

    asyncio.run(ending())


def test_what_a_task_failed_with_is_raised() -> None:
    async def broken() -> None:
        raise KeyError("seq")

    async def ending() -> None:
        task = asyncio.create_task(broken())
        await asyncio.sleep(0)
        await over(task)

    with pytest.raises(KeyError, match="seq"):
        asyncio.run(ending())
