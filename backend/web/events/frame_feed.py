"""The live frames of an attempt: read once for all of its viewers in this process, each of whom takes the newest."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from uuid import UUID, uuid4

from backend.services.events import FULL_WIDTH, LiveFrame, latest_frame, mark_watching, subscribe_attempt
from backend.web.per_loop import PerLoop
from backend.web.socket_lifetime import over

MARK_SECONDS = 2.0
AT_ONCE = 8
"""Viewers that are woken before anything else of the process has its turn, such as an agent's request."""
GoesOn = Callable[[], Awaitable[bool]]


class FrameFeed:
    """One attempt's subscription, newest frame and mark for the worker that somebody watches.

    Attributes:
        widths: of the pictures in which viewers watch, one each, in pixels.
        ended: the attempt has ended, so there are no further frames.
        message: the last one that was packed: what it has (number of the frame, whether without its picture), when.
    """

    def __init__(self, attempt_id: UUID, goes_on: GoesOn) -> None:
        self.widths: list[int] = []
        self.ended = False
        self.message: tuple[tuple[int, bool], float, bytes] | None = None
        self._attempt_id = attempt_id
        self._goes_on = goes_on
        self._frame: LiveFrame | None = None
        self._waiting: list[asyncio.Future[None]] = []
        self._wider = asyncio.Event()
        self._tasks = [asyncio.create_task(part()) for part in (self._keep_marking, self._follow)]

    async def newer(self, seq: int | None) -> LiveFrame | None:
        """Waits for a frame after this one, and returns the newest; None if the attempt has ended.

        Args:
            seq: number of the viewer's frame; None for any.
        """
        while not self.ended:
            if self._frame is not None and (seq is None or self._frame.seq > seq):
                return self._frame
            waiting = asyncio.get_running_loop().create_future()
            self._waiting.append(waiting)
            await waiting
        return None

    def join(self, width: int) -> None:
        """Adds a viewer. One with a wider picture than all others waits for nothing."""
        if width > max(self.widths, default=0):
            self._wider.set()
        self.widths.append(width)

    async def close(self) -> None:
        """Ends the subscription."""
        await over(*self._tasks)

    async def _keep_marking(self) -> None:
        viewer = uuid4().hex
        while True:
            self._wider.clear()
            await mark_watching(self._attempt_id, viewer, max(self.widths, default=FULL_WIDTH))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(MARK_SECONDS):
                    await self._wider.wait()

    async def _follow(self) -> None:
        try:
            async with aclosing(_signs(self._attempt_id)) as signs:
                async for _ in signs:
                    frame = await latest_frame(self._attempt_id)
                    if frame is not None and (self._frame is None or frame.seq > self._frame.seq):
                        self._frame = frame
                    elif not await self._goes_on():
                        return
                    await self._wake()
        finally:
            self.ended = True
            await self._wake()

    async def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for number, viewer in enumerate(waiting, start=1):
            if not viewer.done():
                viewer.set_result(None)
            if number % AT_ONCE == 0:
                await asyncio.sleep(0)


class FrameFeeds:
    """The feeds of attempts that somebody watches."""

    def __init__(self) -> None:
        self._feeds = PerLoop[dict[UUID, FrameFeed]](dict)

    @asynccontextmanager
    async def watch(self, attempt_id: UUID, goes_on: GoesOn, width: int = FULL_WIDTH) -> AsyncGenerator[FrameFeed]:
        """The attempt's feed: the first viewer starts it, the last one ends it.

        Args:
            attempt_id: which attempt.
            goes_on: whether it is still live; asked while no new frame comes.
            width: of the viewer's picture, in pixels.
        """
        feeds = self._feeds.get()
        feed = feeds.get(attempt_id)
        if feed is None or feed.ended:
            feed = feeds[attempt_id] = FrameFeed(attempt_id, goes_on)
        feed.join(width)
        try:
            yield feed
        finally:
            feed.widths.remove(width)
            if not feed.widths:
                if feeds.get(attempt_id) is feed:
                    del feeds[attempt_id]
                await feed.close()


async def _signs(attempt_id: UUID) -> AsyncGenerator[None]:
    """Yields at the start, after each published frame, and every 2 s.

    Frames published while the newest one is read are coalesced.
    """
    fresh = asyncio.Event()

    async def listen() -> None:
        async with aclosing(subscribe_attempt(attempt_id)) as numbers:
            async for _ in numbers:
                fresh.set()

    listener = asyncio.create_task(listen())
    try:
        while True:
            await fresh.wait()
            fresh.clear()
            yield None
    finally:
        await over(listener)
