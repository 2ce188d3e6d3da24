"""An attempt's frames are read once for all viewers, and nobody waits behind them."""

import asyncio
import itertools
import json
from collections.abc import AsyncGenerator
from uuid import UUID, uuid4

import pytest

from backend.services.events import LiveFrame
from backend.web.events import frame_feed
from backend.web.events.frame_feed import AT_ONCE, FrameFeed, FrameFeeds
from backend.web.events.live_socket import message

VIEWERS = 300


class FrameSource:
    """The broker's side: frames that are published, and what the feeds ask for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seq = 0
        self.reads = 0
        self.subscriptions = 0
        self.marks: list[tuple[str, int]] = []
        self._signs: list[asyncio.Queue[int]] = []
        monkeypatch.setattr(frame_feed, "subscribe_attempt", self._subscribe)
        monkeypatch.setattr(frame_feed, "latest_frame", self._latest)
        monkeypatch.setattr(frame_feed, "mark_watching", self._mark)

    def publish(self) -> None:
        self.seq += 1
        for signs in self._signs:
            signs.put_nowait(self.seq)

    def idle(self) -> None:
        """A sign without a new frame, as comes every 2 s."""
        for signs in self._signs:
            signs.put_nowait(self.seq)

    async def _subscribe(self, attempt_id: UUID) -> AsyncGenerator[int]:
        self.subscriptions += 1
        signs = asyncio.Queue[int]()
        self._signs.append(signs)
        while True:
            yield await signs.get()

    async def _latest(self, attempt_id: UUID) -> LiveFrame:
        self.reads += 1
        return LiveFrame(self.seq, b"picture", {})

    async def _mark(self, attempt_id: UUID, viewer: str, width: int) -> None:
        self.marks.append((viewer, width))


class AttemptEnd:
    """Whether it goes on, and how often that was asked."""

    def __init__(self) -> None:
        self.live = True
        self.asked = 0

    async def goes_on(self) -> bool:
        self.asked += 1
        return self.live


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> FrameSource:
    return FrameSource(monkeypatch)


async def turns(number: int = 200) -> None:
    """Lets everything that can go on do so."""
    for _ in range(number):
        await asyncio.sleep(0)


class TestFrameFeeds:
    def test_viewers_share_one_subscription_and_read(self, source: FrameSource) -> None:
        attempt, feeds, attempt_id = AttemptEnd(), FrameFeeds(), uuid4()

        async def view(feed_seen: list[int]) -> None:
            async with feeds.watch(attempt_id, attempt.goes_on) as feed:
                for _ in range(3):
                    frame = await feed.newer(feed_seen[-1] if feed_seen else None)
                    assert frame is not None
                    feed_seen.append(frame.seq)

        async def work() -> list[list[int]]:
            seen: list[list[int]] = [[] for _ in range(VIEWERS)]
            viewers = [asyncio.create_task(view(each)) for each in seen]
            await turns()
            for _ in range(3):
                source.publish()
                await turns()
            await asyncio.gather(*viewers)
            return seen

        assert asyncio.run(work()) == [[1, 2, 3]] * VIEWERS
        assert (source.subscriptions, source.reads, len(source.marks), attempt.asked) == (1, 3, 1, 0)

    def test_a_wider_viewer_is_marked_at_once(self, source: FrameSource) -> None:
        feeds, attempt_id = FrameFeeds(), uuid4()

        async def work() -> None:
            async with feeds.watch(attempt_id, AttemptEnd().goes_on, 480):
                await turns()
                async with feeds.watch(attempt_id, AttemptEnd().goes_on, 320):
                    await turns()
                async with feeds.watch(attempt_id, AttemptEnd().goes_on, 960):
                    await turns()

        asyncio.run(work())
        assert [width for _, width in source.marks] == [480, 960]
        assert len({viewer for viewer, _ in source.marks}) == 1

    def test_others_have_their_turn_between_viewers(self, source: FrameSource) -> None:
        attempt = AttemptEnd()
        woken = [0]

        async def view(feed: FrameFeed) -> None:
            await feed.newer(None)
            woken[0] += 1

        async def work() -> list[int]:
            async with FrameFeeds().watch(uuid4(), attempt.goes_on) as feed:
                viewers = [asyncio.create_task(view(feed)) for _ in range(VIEWERS)]
                await turns()
                source.publish()
                between = []
                while woken[0] < VIEWERS:
                    await asyncio.sleep(0)
                    between.append(woken[0])
                await asyncio.gather(*viewers)
                return between

        between = asyncio.run(work())
        assert max(later - earlier for earlier, later in itertools.pairwise(between)) <= 2 * AT_ONCE

    def test_the_end_of_the_attempt_ends_all_views(self, source: FrameSource) -> None:
        attempt, feeds, attempt_id = AttemptEnd(), FrameFeeds(), uuid4()

        async def work() -> list[LiveFrame | None]:
            async with feeds.watch(attempt_id, attempt.goes_on) as feed:
                source.publish()
                await turns()
                source.publish()
                first = await feed.newer(None)
                assert first is not None
                waiting = [asyncio.create_task(feed.newer(first.seq)) for _ in range(3)]
                attempt.live = False
                source.idle()
                return await asyncio.gather(*waiting)

        assert asyncio.run(work()) == [None] * 3

    def test_later_viewer_starts_a_new_feed(self, source: FrameSource) -> None:
        feeds, attempt_id = FrameFeeds(), uuid4()

        async def work() -> None:
            for _ in range(2):
                async with feeds.watch(attempt_id, AttemptEnd().goes_on):
                    await turns()

        asyncio.run(work())
        assert source.subscriptions == 2


class TestMessage:
    def test_viewers_who_get_the_same_share_it(self, source: FrameSource, monkeypatch: pytest.MonkeyPatch) -> None:
        async def work() -> None:
            async with FrameFeeds().watch(uuid4(), AttemptEnd().goes_on) as feed:
                frame = LiveFrame(1, b"jpeg", {"picture": 7})
                first = message(feed, frame, None)
                assert first.endswith(b"\njpeg")
                assert message(feed, frame, 6) is first
                assert message(feed, frame, 7).endswith(b"\n")
                assert json.loads(message(feed, LiveFrame(2, b"jpeg", {"picture": 7}), 7))["seq"] == 2
                monkeypatch.setattr("backend.web.events.live_socket.SAME_SECONDS", -1.0)
                assert message(feed, frame, None) is not message(feed, frame, None)

        asyncio.run(work())
