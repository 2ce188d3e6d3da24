"""The log of a run has no gap; the broker only says that it grew, and may be away."""

import asyncio
import socket
import time
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit
from uuid import UUID

import pytest
import redis
from sqlalchemy import select
from uuid_utils.compat import uuid7

from backend.cli.embedded.broker import start_broker
from backend.config import Settings
from backend.db.models import Event, Run
from backend.rotating_secrets import current
from backend.services import events
from backend.services.events import EventKind, watch
from backend.services.events.broker import Broker, client_url, follow
from backend.services.runs import runs
from tests.factories.records import World
from tests.waiting import until
from worker.app import make_app

T = TypeVar("T")


async def following(stream: AsyncGenerator[T, None], wanted: T, seconds: float = 10.0) -> list[T]:
    """Messages of a stream up to `wanted`."""
    said: list[T] = []
    async with asyncio.timeout(seconds):
        async for item in stream:
            said.append(item)
            if item == wanted:
                break
    await stream.aclose()
    await events.close_listeners()
    return said


@pytest.fixture
def broker(redis_url: str) -> str:
    events.configure(redis_url)
    return redis_url


@pytest.fixture
def dead_broker() -> Iterator[str]:
    """An address where nobody answers, nor can: its port is held by a socket that does not listen."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"redis://127.0.0.1:{held.getsockname()[1]}/0"
        events.configure(url)
        yield url


class TestAppend:
    def test_numbers_have_no_gap_under_many_writers(self, ready: World) -> None:
        ready.worker()
        run = ready.submit()

        def write(number: int) -> None:
            with ready.work() as session:
                events.append(session, session.get_one(Run, run.id), EventKind.STEP, {"n": number})

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(write, range(40)))
        with ready.work() as session:
            numbers = list(session.scalars(select(Event.seq).where(Event.run_id == run.id).order_by(Event.seq)))
        assert numbers == list(range(1, 42))

    def test_rollback_leaves_no_gap(self, ready: World) -> None:
        ready.worker()
        run = ready.submit()

        def fail() -> None:
            with ready.work() as session:
                events.append(session, session.get_one(Run, run.id), EventKind.STEP, {})
                raise KeyError

        with pytest.raises(KeyError):
            fail()
        ready.do(runs.pause_run, run.id)
        with ready.work() as session:
            assert [event.seq for event in events.list_after(session, run.id)] == [1, 2]

    def test_a_reader_never_sees_a_later_one_first(self, ready: World) -> None:
        """Reading on from the highest number misses nothing, in any order of commits."""
        ready.worker()
        run = ready.submit()
        seen: list[int] = []

        def write(number: int) -> None:
            with ready.work() as session:
                events.append(session, session.get_one(Run, run.id), EventKind.STEP, {"n": number})

        with ThreadPoolExecutor(5) as pool:
            writers = [pool.submit(write, number) for number in range(20)]
            while not all(writer.done() for writer in writers):
                with ready.work() as session:
                    seen += [row.seq for row in events.list_after(session, run.id, seen[-1] if seen else 0)]
        with ready.work() as session:
            seen += [row.seq for row in events.list_after(session, run.id, seen[-1] if seen else 0)]
        assert seen == list(range(1, 22))


class TestSubscribeRun:
    def test_hears_of_what_was_committed(self, ready: World, broker: str) -> None:
        ready.worker()
        run = ready.submit()

        async def scenario() -> list[int]:
            stream = events.subscribe_run(run.id, 1)
            first = await anext(stream)
            await asyncio.to_thread(ready.do, runs.pause_run, run.id)
            await asyncio.to_thread(ready.do, runs.resume_run, run.id)
            return [first, *await following(stream, 3)]

        # The newest number is said again whenever nothing has come for a while.
        assert list(dict.fromkeys(asyncio.run(scenario()))) == [1, 2, 3]

    def test_says_nothing_of_a_rolled_back_one(self, ready: World, broker: str) -> None:
        ready.worker()
        run = ready.submit()

        def fail() -> None:
            with ready.work() as session:
                runs.pause_run(session, run.id)
                raise KeyError

        async def scenario() -> list[int]:
            stream = events.subscribe_run(run.id, 1)
            first = await anext(stream)
            with pytest.raises(KeyError):
                await asyncio.to_thread(fail)
            await asyncio.to_thread(ready.do, runs.cancel_run, run.id)
            return [first, *await following(stream, 3)]

        # 2 is the move to cancelled, 3 the cancelled episodes; both become visible with one commit.
        assert asyncio.run(scenario()) == [1, 3]

    def test_speaks_up_without_a_broker(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(watch, "TICK", 0.01)

        async def scenario() -> list[int]:
            stream = events.subscribe_run(uuid7(), 7)
            return [await anext(stream) for _ in range(3)]

        assert asyncio.run(scenario()) == [7, 7, 7]

    def test_speaks_up_while_the_broker_is_away(self, dead_broker: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(watch, "TICK", 0.01)

        async def scenario() -> list[int]:
            stream = events.subscribe_run(uuid7(), 7)
            said = [await anext(stream) for _ in range(3)]
            await stream.aclose()
            await events.close_listeners()
            return said

        assert asyncio.run(scenario()) == [7, 7, 7]


class TestLiveFrames:
    def test_the_newest_is_what_a_viewer_gets(self, broker: str) -> None:
        attempt = uuid7()
        assert events.put_frame(attempt, 1, b"one", {"step": 0})
        assert events.put_frame(attempt, 2, b"two\n\x00", {"step": 1})

        async def scenario() -> events.LiveFrame | None:
            frame = await events.latest_frame(attempt)
            await events.close_listeners()
            return frame

        frame = asyncio.run(scenario())
        assert frame == events.LiveFrame(seq=2, data=b"two\n\x00", meta={"step": 1})

    def test_live_frames_expire(self, broker: str) -> None:
        attempt = uuid7()
        events.put_frame(attempt, 1, b"x", {}, ttl=0.05)

        async def gone() -> bool:
            frame = await events.latest_frame(attempt)
            await events.close_listeners()
            return frame is None

        until(lambda: asyncio.run(gone()))

    def test_viewers_hear_its_number(self, broker: str) -> None:
        attempt = uuid7()

        async def scenario() -> list[int | None]:
            stream = events.subscribe_attempt(attempt)
            first = await anext(stream)
            await asyncio.to_thread(events.put_frame, attempt, 5, b"x", {})
            return [first, *await following(stream, 5)]

        assert asyncio.run(scenario()) == [None, 5]


class TestWatchers:
    def mark(self, attempt: UUID, **widths: int) -> None:
        async def scenario() -> None:
            for viewer, width in widths.items():
                assert await events.mark_watching(attempt, viewer, width)
            await events.close_listeners()

        asyncio.run(scenario())

    def test_a_call_can_be_cancelled_at_any_moment(self, broker: str) -> None:
        """Before it connects, while it sends, while it waits for the reply: also with the library's own time limits."""
        attempt = uuid7()
        events.put_frame(attempt, 1, b"x", {})

        async def cancelled_after(turns: int) -> bool:
            call = asyncio.create_task(events.latest_frame(attempt))
            for _ in range(turns):
                await asyncio.sleep(0)
            if is_in_time := not call.done():
                call.cancel()
                await asyncio.wait([call])
                assert call.cancelled(), f"after {turns} turns of the loop"
            frame = await events.latest_frame(attempt)
            assert frame is not None
            assert frame.seq == 1, "the next call gets its own reply"
            await events.close_listeners()
            return is_in_time

        in_time = [asyncio.run(cancelled_after(turns)) for turns in range(60)]
        assert any(in_time)

    def test_the_widest_picture_counts(self, broker: str) -> None:
        attempt = uuid7()
        assert events.watched_width(attempt) == 0
        self.mark(attempt, a=480, b=1280)
        self.mark(attempt, a=960)
        assert events.watched_width(attempt) == 1280

    def test_a_mark_ends_by_itself(self, broker: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("backend.services.events.live.WATCH_SECONDS", 0.6)
        attempt = uuid7()
        self.mark(attempt, a=480)
        until(lambda: not events.watched_width(attempt))


class TestBrokerAway:
    def test_broker_outage_does_not_fail_or_block(self, ready: World, dead_broker: str) -> None:
        worker = ready.worker()
        run = ready.submit(tasks=("files/a",))
        begun = time.monotonic()
        ready.score(ready.must_claim(worker))
        assert time.monotonic() - begun < 30
        with ready.work() as session:
            assert session.get_one(Run, run.id).state == "completed"
        assert events.put_frame(uuid7(), 1, b"x", {}) is False
        assert events.watched_width(uuid7()) == 0
        assert events.broker_state() == "away"

    def test_a_failure_is_remembered_so_that_the_next_call_costs_nothing(self, dead_broker: str) -> None:
        broker = Broker(dead_broker)
        tried: list[int] = []

        def work(client: object) -> bool:
            tried.append(1)
            raise ConnectionError

        assert [broker.call(work, default=False) for _ in range(5)] == [False] * 5
        assert len(tried) == 1

    def test_broker_is_retried_later(self, broker: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("backend.services.events.broker.PAUSE", 0.0)
        found = Broker(broker)

        def fail(client: object) -> bool:
            raise ConnectionError

        assert found.call(fail, default=False) is False
        assert found.call(lambda client: bool(client.ping()), default=False) is True
        found.close()

    def test_a_rotated_password_reaches_api_and_workers(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        server = start_broker(tmp_path / "broker")
        file = tmp_path / "url"
        file.write_text(server.url)
        monkeypatch.setenv("REDIS_URL_FILE", str(file))
        follow(current(Settings(), "redis_url"))
        worker = make_app(current(Settings(), "redis_url"))
        try:
            assert events.broker_state() == "ok"
            password = str(urlsplit(server.url).password)
            with redis.Redis.from_url(client_url(server.url)) as operator:
                operator.config_set("requirepass", "another")
            file.write_text(server.url.replace(password, "another"))
            assert events.broker_state() == "ok"
            with worker, worker.connection_for_read() as connection:
                connection.ensure_connection(max_retries=1, timeout=2, interval_start=0, interval_step=0)
                channel: Any = connection.default_channel
                assert channel.client.ping()
        finally:
            server.stop()

    def test_broker_state_is_reported(self, broker: str) -> None:
        assert events.broker_state() == "ok"
        events.configure("")
        assert events.broker_state() == "none"


class TestClientUrl:
    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            ("redis://:pw@127.0.0.1:1/0", "redis://:pw@127.0.0.1:1/0"),
            ("redis+socket:///tmp/a.sock?virtual_host=3&password=x", "unix:///tmp/a.sock?db=3&password=x"),
            ("redis+socket://:pw@/tmp/a.sock", "unix://:pw@/tmp/a.sock"),
        ],
    )
    def test_is_what_the_client_library_understands(self, given: str, expected: str) -> None:
        assert client_url(given) == expected
