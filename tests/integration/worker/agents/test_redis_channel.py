"""The agent channel over a real broker: stored values, delivery once, and a broker that fails."""

import asyncio
import socket
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import pytest
import redis
from uuid_utils.compat import uuid7

from backend.cli.embedded.broker import start_broker
from backend.domain.errors import ClusterLost, Conflict, Unavailable
from backend.domain.model.episode import AttemptState, EpisodeState
from backend.domain.model.trajectory import Frame, Observation
from backend.services import events
from backend.services.agents import agent_channel, agent_channel_store
from backend.services.agents.agent_channel_store import MOST_WAITING, ReplyStatus
from backend.services.agents.agent_tokens import Pass
from tests.error_codes import raises_code
from tests.waiting import until
from worker.agents.redis_channel import RedisChannel

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


def under_way(attempt_id: UUID) -> Pass:
    """Addresses that the token of an attempt's episode opens while its agent acts."""
    return Pass(
        uuid7(), uuid7(), "a/b", "do it", EpisodeState.RUNNING,
        attempt_id=attempt_id, attempt=1, attempt_state=AttemptState.RUNNING,
    )  # fmt: skip


def given(found: Pass, index: int) -> bool:
    """Whether the answer was taken, now or before."""
    try:
        asked(agent_channel.give(found, index, 1, {"index": index}))
    except Unavailable:
        return False
    return True


@contextmanager
def dead_broker() -> Iterator[None]:
    """A port on which nobody listens, and which nobody else can take."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        events.configure(f"redis://127.0.0.1:{found.getsockname()[1]}/0")
        try:
            yield
        finally:
            events.configure("")


@pytest.fixture
def attempt(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[UUID]:
    # On a busy machine half a second is no outage.
    monkeypatch.setattr("backend.services.events.broker.TIMEOUT", 10.0)
    events.configure(redis_url)
    yield uuid7()
    events.configure("")


class TestShow:
    def test_puts_head_tree_and_picture(self, attempt: UUID) -> None:
        RedisChannel(attempt).show(SEEN, {"instruction": "do it"})
        seen = asked(agent_channel_store.latest_seen(attempt, tree=True))
        assert (seen.index, seen.tree) == (2, "<a/>")
        assert seen.head["instruction"] == "do it"
        assert (seen.head["note"], seen.head["media_type"], seen.head["width"]) == ("n", "image/jpeg", 4)
        assert asked(agent_channel_store.latest_seen(attempt, picture=True)).picture == b"\xff\xd8"

    def test_notifies_a_waiting_agent(self, attempt: UUID) -> None:
        async def wait() -> int | None:
            async with asyncio.timeout(20):
                async for _ in agent_channel_store.subscribe_line(attempt, uuid7()):
                    index = await agent_channel_store.latest_index(attempt)
                    if index is not None:
                        return index
                    await asyncio.to_thread(RedisChannel(attempt).show, SEEN, {})
            return None

        assert asked(wait()) == 2

    def test_close_removes_the_observation(self, attempt: UUID) -> None:
        line = RedisChannel(attempt)
        line.show(SEEN, {})
        line.close()
        assert asked(agent_channel_store.latest_seen(attempt)) is None


class TestSay:
    def test_the_same_message_counts_once(self, attempt: UUID) -> None:
        line, message = RedisChannel(attempt), {"index": 2, "reply": "DONE"}
        assert asked(agent_channel_store.say(attempt, "2", message)) is ReplyStatus.NEW
        assert line.take(5.0) == message
        assert asked(agent_channel_store.say(attempt, "2", message)) is ReplyStatus.REPEATED
        assert asked(agent_channel_store.say(attempt, "2", {"index": 2, "reply": "FAIL"})) is ReplyStatus.OTHER
        assert line.take(0.0) is None

    def test_full_queue_refuses_replies(self, attempt: UUID) -> None:
        async def fill() -> list[ReplyStatus]:
            return [await agent_channel_store.say(attempt, str(number), {}) for number in range(MOST_WAITING + 1)]

        said = asked(fill())
        assert said == [ReplyStatus.NEW] * MOST_WAITING + [ReplyStatus.FULL]
        line = RedisChannel(attempt)
        assert line.take(5.0) == {}
        line.take(5.0)
        for _ in range(MOST_WAITING - 2):
            line.take(0.0)
        assert line.take(0.0) is None  # Asking for more forgets what was taken.
        assert asked(agent_channel_store.say(attempt, "more", {})) is ReplyStatus.NEW


class TestBrokerAway:
    def test_is_a_loss_after_a_while(self) -> None:
        with dead_broker(), pytest.raises(ClusterLost):
            RedisChannel(uuid7(), patience=0.5).take(30.0)

    def test_short_polls_also_time_out(self) -> None:
        with dead_broker():
            line = RedisChannel(uuid7(), patience=1.5)
            with raises_code(ClusterLost, "agent_channel_down", mentions="broker"):
                until(lambda: line.take(0.3) is not None)
            assert line.wait_seconds() >= 1.5
            assert "not been heard from since" in line.unheard()

    def test_reply_missing_from_a_restored_broker_is_requested_again(
        self, attempt: UUID, redis_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It came back with the observation of a moment ago, from its disk or from a copy."""
        monkeypatch.setattr("worker.agents.redis_channel.RENEW_SECONDS", 600.0)
        found = under_way(attempt)
        line = RedisChannel(attempt, patience=30.0)
        line.show(SEEN, {})
        with monkeypatch.context() as away:
            away.setattr(agent_channel_store, "next_messages", lambda *_: None)
            assert given(found, 2)
            assert line.take(0.0) is None
        with redis.from_url(redis_url) as broker:
            broker.delete(*(f"deskarena:line:{attempt}:{part}" for part in ("said", "once")))
        newer: Callable[[], Any] = lambda: line.take(0.0) or asked(agent_channel.newer(found, 2, 1))  # noqa: E731
        assert until(newer, what="it is offered again").index == 2

    def test_the_observation_is_there_again_as_soon_as_the_broker_is(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("worker.agents.redis_channel.RENEW_SECONDS", 600.0)
        server = start_broker(tmp_path / "broker")
        events.configure(server.url)
        attempt = uuid7()
        try:
            line = RedisChannel(attempt, patience=30.0)
            line.show(SEEN, {})
            server.stop()
            assert line.take(0.0) is None
            server = start_broker(tmp_path / "broker", port=urlsplit(server.url).port)
            told: Callable[[], Any] = lambda: asked(agent_channel_store.latest_index(attempt))  # noqa: E731
            assert told() is None
            until(lambda: line.take(0.3) is not None or told() == 2, what="the observation is offered again")
            assert asked(agent_channel_store.say(attempt, "2", {"index": 2})) is ReplyStatus.NEW
            assert line.take(10.0) == {"index": 2}
        finally:
            events.configure("")
            server.stop()

    def test_reply_waits_until_an_emptied_broker_has_the_observation_again(self, tmp_path: Path) -> None:
        server = start_broker(tmp_path / "broker")
        events.configure(server.url)
        found = under_way(uuid7())
        try:
            line = RedisChannel(found.attempt_id or uuid7(), patience=30.0)
            line.show(SEEN, {})
            server.stop()
            assert line.take(0.0) is None
            server = start_broker(tmp_path / "broker", port=urlsplit(server.url).port)
            with pytest.raises(Unavailable):
                asked(agent_channel.give(found, 2, 1, {"index": 2}))
            with pytest.raises(Unavailable):
                asked(agent_channel.picture(found, 2))
            until(lambda: line.take(0.3) is not None or given(found, 2), what="the answer is taken")
            assert asked(agent_channel.picture(found, 2)).picture == b"\xff\xd8"
            assert line.take(10.0) == {"index": 2}
        finally:
            events.configure("")
            server.stop()

    def test_reply_lost_by_the_broker_is_requested_again(self, tmp_path: Path) -> None:
        """The agent, whose answer was accepted, waits for the next step; the worker waits for that answer."""
        server = start_broker(tmp_path / "broker")
        events.configure(server.url)
        found = under_way(uuid7())
        newer: Callable[[], Any] = lambda: asked(agent_channel.newer(found, 2, 1))  # noqa: E731
        try:
            line = RedisChannel(found.attempt_id or uuid7(), patience=30.0)
            line.show(SEEN, {})
            assert newer() is None
            assert given(found, 2)
            server.stop()
            assert line.take(0.0) is None
            server = start_broker(tmp_path / "broker", port=urlsplit(server.url).port)
            until(lambda: line.take(0.3) is not None or newer() is not None, what="it is offered again")
            assert newer().index == 2
            assert asked(agent_channel.newer(found, 3, 1)) is None
            assert given(found, 2)
            assert newer() is None
            assert line.take(10.0) == {"index": 2}
            line.show(SEEN.model_copy(update={"index": 3}), {})
            assert asked(agent_channel.newer(found, 3, 1)) is None
        finally:
            events.configure("")
            server.stop()

    def test_restored_older_observation_is_replaced(self, attempt: UUID, monkeypatch: pytest.MonkeyPatch) -> None:
        """A broker that keeps its data on disk begins anew with that of a moment ago."""
        monkeypatch.setattr("worker.agents.redis_channel.RENEW_SECONDS", 0.0)
        line = RedisChannel(attempt)
        line.show(SEEN, {})
        RedisChannel(attempt).show(SEEN.model_copy(update={"index": 1}), {})
        assert line.take(0.0) is None
        assert asked(agent_channel_store.latest_index(attempt)) == 2


class TestGive:
    def test_reply_to_another_step_is_refused(self, attempt: UUID) -> None:
        RedisChannel(attempt).show(SEEN, {})
        with raises_code(Conflict, "step_not_waiting", mentions="step 2"):
            asked(agent_channel.give(under_way(attempt), 1, 1, {"index": 1}))
        assert asked(agent_channel.give(under_way(attempt), 2, 1, {"index": 2}))
        assert not asked(agent_channel.give(under_way(attempt), 2, 1, {"index": 2}))

    def test_replies_are_refused_during_evaluation(self, attempt: UUID) -> None:
        over = replace(under_way(attempt), attempt_state=AttemptState.EVALUATING)
        with raises_code(Conflict, "step_not_waiting"):
            asked(agent_channel.give(over, 2, 1, {"index": 2}))
        with raises_code(Conflict, "picture_not_ready"):
            asked(agent_channel.picture(over, 2))


class TestApiAway:
    """The broker is available, but no answer reached it."""

    @pytest.fixture(autouse=True)
    def _often(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("worker.agents.redis_channel.API_LOOK_SECONDS", 0.0)
        monkeypatch.setattr("backend.services.agents.agent_channel_store.API_SECONDS", 600.0)

    @pytest.fixture
    def broker(self, redis_url: str) -> Iterator[redis.Redis]:
        with redis.from_url(redis_url) as found:
            found.delete("deskarena:api")
            yield found
            found.delete("deskarena:api")

    def test_outage_time_is_excluded_until_the_agent_is_heard_again(self, attempt: UUID, broker: redis.Redis) -> None:
        line = RedisChannel(attempt)
        asked(agent_channel_store.mark_api())
        asked(agent_channel_store.mark_heard(attempt))
        assert line.take(0.0) is None
        assert (line.wait_seconds(), line.unheard()) == (0.0, "")
        broker.delete("deskarena:api")
        assert line.take(0.5) is None
        until(lambda: line.wait_seconds() > 0.2)
        assert "the API is unavailable" in line.unheard()
        assert not line.present(), "what was heard before does not count"
        asked(agent_channel_store.mark_api())
        assert line.take(0.3) is None
        assert line.unheard()
        broker.set(f"deskarena:line:{attempt}:heard", b"1")
        assert line.take(0.3) is None
        assert line.unheard() == ""
        held = line.wait_seconds()
        assert line.take(0.3) is None
        assert line.wait_seconds() == held

    def test_api_of_an_older_release_counts_as_available(self, attempt: UUID, broker: redis.Redis) -> None:
        assert not broker.exists("deskarena:api")
        line = RedisChannel(attempt)
        assert line.take(0.5) is None
        assert (line.wait_seconds(), line.unheard()) == (0.0, "")
