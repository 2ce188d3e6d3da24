"""The line over a real broker: what lies there, what is given once, what a broker that goes away does."""

import asyncio
import socket
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from uuid_utils.compat import uuid7

from backend.cli.embedded.broker import start_broker
from backend.domain.errors import ClusterLost
from backend.domain.trajectory import Frame, Observation
from backend.services import events
from backend.services.events import Said
from backend.services.events.line import MOST_WAITING
from worker.line import RedisLine

SEEN = Observation(
    index=2, frame=Frame(data=b"\xff\xd8", media_type="image/jpeg", width=4, height=3), a11y_tree="<a/>", note="n"
)


def asked(work: Coroutine[Any, Any, Any]) -> Any:
    async def whole() -> Any:
        try:
            return await work
        finally:
            await events.close_listeners()

    return asyncio.run(whole())


@pytest.fixture
def attempt(redis_url: str) -> Iterator[UUID]:
    events.configure(redis_url)
    yield uuid7()
    events.configure("")


class TestShow:
    def test_puts_head_tree_and_picture(self, attempt: UUID) -> None:
        RedisLine(attempt).show(SEEN, {"instruction": "do it"})
        seen = asked(events.latest_seen(attempt, tree=True))
        assert (seen.index, seen.tree) == (2, "<a/>")
        assert seen.head["instruction"] == "do it"
        assert (seen.head["note"], seen.head["media_type"], seen.head["width"]) == ("n", "image/jpeg", 4)
        assert asked(events.latest_seen(attempt, picture=True)).picture == b"\xff\xd8"

    def test_tells_who_waits(self, attempt: UUID) -> None:
        async def wait() -> int | None:
            async with asyncio.timeout(20):
                async for _ in events.subscribe_line(attempt, uuid7()):
                    index = await events.latest_index(attempt)
                    if index is not None:
                        return index
                    await asyncio.to_thread(RedisLine(attempt).show, SEEN, {})
            return None

        assert asked(wait()) == 2

    def test_nothing_is_left_after_the_end(self, attempt: UUID) -> None:
        line = RedisLine(attempt)
        line.show(SEEN, {})
        line.close()
        assert asked(events.latest_seen(attempt)) is None


class TestSay:
    def test_the_same_message_counts_once(self, attempt: UUID) -> None:
        line, message = RedisLine(attempt), {"index": 2, "reply": "DONE"}
        assert asked(events.say(attempt, "2", message)) is Said.NEW
        assert line.take(5.0) == message
        assert asked(events.say(attempt, "2", message)) is Said.REPEATED
        assert asked(events.say(attempt, "2", {"index": 2, "reply": "FAIL"})) is Said.OTHER
        assert line.take(0.0) is None

    def test_a_full_queue_takes_no_more(self, attempt: UUID) -> None:
        async def fill() -> list[Said]:
            return [await events.say(attempt, str(number), {}) for number in range(MOST_WAITING + 1)]

        said = asked(fill())
        assert said == [Said.NEW] * MOST_WAITING + [Said.FULL]
        line = RedisLine(attempt)
        assert line.take(5.0) == {}
        line.take(5.0)
        for _ in range(MOST_WAITING - 2):
            line.take(0.0)
        assert line.take(0.0) is None  # Asking for more forgets what was taken.
        assert asked(events.say(attempt, "more", {})) is Said.NEW


class TestBrokerAway:
    def test_is_a_loss_after_a_while(self) -> None:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            events.configure(f"redis://127.0.0.1:{found.getsockname()[1]}/0")
        try:
            with pytest.raises(ClusterLost):
                RedisLine(uuid7(), patience=0.5).take(30.0)
        finally:
            events.configure("")

    def test_the_observation_is_there_again_when_the_broker_is(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("worker.line.RENEW_SECONDS", 0.0)
        server = start_broker(tmp_path / "broker")
        events.configure(server.url)
        attempt, line = uuid7(), None
        try:
            line = RedisLine(attempt, patience=30.0)
            line.show(SEEN, {})
            server.stop()
            server = start_broker(tmp_path / "broker", port=urlsplit(server.url).port)
            told: Callable[[], Any] = lambda: asked(events.latest_index(attempt))  # noqa: E731
            assert told() in {None, 2}
            for _ in range(40):
                if told() == 2:
                    break
                line.take(0.3)
            assert told() == 2
            assert asked(events.say(attempt, "2", {"index": 2})) is Said.NEW
            assert line.take(10.0) == {"index": 2}
        finally:
            events.configure("")
            server.stop()
