"""Every line to somebody outside: what is shown, what is taken, what happens when it is closed."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
from uuid_utils.compat import uuid7

from backend.domain.errors import ClusterLost
from backend.domain.model.trajectory import Frame, Observation
from backend.domain.ports.agent import AgentChannel
from backend.services import events
from backend.services.agents import agent_channel_store
from tests.fakes.agent_channel import FakeLine
from worker.agents.redis_channel import RedisChannel

SEEN = Observation(index=0, frame=Frame(data=b"jpeg", media_type="image/jpeg", width=4, height=3), a11y_tree="<a/>")


@dataclass(frozen=True)
class Ends:
    """Both ends of a line."""

    line: AgentChannel
    say: Callable[[str, Mapping[str, Any]], None]
    come: Callable[[], None]


def _fake() -> Ends:
    line = FakeLine()
    return Ends(line, lambda _once, message: line.say(message), lambda: setattr(line, "here", True))


def _run(work: Coroutine[Any, Any, Any]) -> Any:
    async def whole() -> Any:
        try:
            return await work
        finally:
            await events.close_listeners()

    return asyncio.run(whole())


def _redis() -> Ends:
    attempt = uuid7()

    def say(once: str, message: Mapping[str, Any]) -> None:
        assert _run(agent_channel_store.say(attempt, once, message)) is agent_channel_store.ReplyStatus.NEW

    return Ends(RedisChannel(attempt), say, lambda: _run(agent_channel_store.mark_heard(attempt)))


@pytest.fixture(params=["fake", "redis"])
def ends(request: pytest.FixtureRequest) -> Iterator[Ends]:
    if request.param == "fake":
        yield _fake()
        return
    events.configure(request.getfixturevalue("redis_url"))
    made = _redis()
    yield made
    made.line.close()
    events.configure("")


class TestTake:
    def test_gives_messages_once_and_in_order(self, ends: Ends) -> None:
        ends.line.show(SEEN, {})
        for number in range(3):
            ends.say(str(number), {"index": number})
        assert [ends.line.take(5.0) for _ in range(3)] == [{"index": 0}, {"index": 1}, {"index": 2}]
        assert ends.line.take(0.0) is None

    def test_waits_for_one(self, ends: Ends) -> None:
        ends.line.show(SEEN, {})
        with ThreadPoolExecutor(1) as pool:
            taken = pool.submit(ends.line.take, 20.0)
            ends.say("a", {"index": 0, "explanation": "late"})
            assert taken.result(60.0) == {"index": 0, "explanation": "late"}

    def test_says_that_none_came(self, ends: Ends) -> None:
        assert ends.line.take(0.05) is None


class TestPresent:
    def test_is_true_once_the_other_end_was_heard_of(self, ends: Ends) -> None:
        assert not ends.line.present()
        ends.come()
        assert ends.line.present()


class TestClose:
    def test_ends_a_take_under_way(self, ends: Ends) -> None:
        ends.line.show(SEEN, {})
        with ThreadPoolExecutor(1) as pool:
            taken = pool.submit(ends.line.take, 60.0)
            ends.line.close()
            with pytest.raises(ClusterLost):
                taken.result(60.0)

    def test_may_be_called_twice(self, ends: Ends) -> None:
        ends.line.close()
        ends.line.close()
        ends.line.show(SEEN, {})
        with pytest.raises(ClusterLost):
            ends.line.take(0.0)
