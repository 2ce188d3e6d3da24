"""A live view ends with its viewer, whatever happens at the same time."""

import asyncio
from collections.abc import AsyncGenerator
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest

from backend.services.events import LiveFrame
from backend.web.events import frame_feed, live_socket
from backend.web.events.frame_feed import FrameFeeds
from backend.web.events.shared_reads import SharedReads
from backend.web.socket_lifetime import over


class Viewer:
    """A websocket whose viewer takes a frame and leaves, both before anybody else gets a turn."""

    def __init__(self) -> None:
        edge = SimpleNamespace(reads=SharedReads(), feeds=FrameFeeds())
        self.app = SimpleNamespace(state=SimpleNamespace(edge=edge))
        self.sent = asyncio.Event()
        self.said: list[dict[str, Any]] = [{"type": "websocket.receive"}, {"type": "websocket.disconnect"}]

    async def accept(self) -> None:
        """Nothing is to be done."""

    async def send_bytes(self, data: bytes) -> None:
        self.sent.set()

    async def receive(self) -> dict[str, Any]:
        await self.sent.wait()
        return self.said.pop(0)


def test_a_frame_taken_in_the_moment_of_leaving_ends_the_view(monkeypatch: pytest.MonkeyPatch) -> None:
    async def one_number(attempt_id: UUID) -> AsyncGenerator[int]:
        yield 1
        await asyncio.Event().wait()

    async def marked(attempt_id: UUID, viewer: str, width: int) -> None:
        """Nothing is to be done."""

    async def frame(attempt_id: UUID) -> LiveFrame:
        return LiveFrame(1, b"", {})

    async def leaving() -> None:
        viewer = Viewer()
        async with asyncio.timeout(5):
            await live_socket.live(viewer, uuid4())  # type: ignore[arg-type]
        assert viewer.sent.is_set()

    monkeypatch.setattr(live_socket, "is_live", lambda *_: True)
    monkeypatch.setattr(frame_feed, "mark_watching", marked)
    monkeypatch.setattr(frame_feed, "subscribe_attempt", one_number)
    monkeypatch.setattr(frame_feed, "latest_frame", frame)
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


def test_the_exception_of_a_task_is_raised() -> None:
    async def broken() -> None:
        raise KeyError("seq")

    async def ending() -> None:
        task = asyncio.create_task(broken())
        await asyncio.sleep(0)
        await over(task)

    with pytest.raises(KeyError, match="seq"):
        asyncio.run(ending())
