"""Workers are woken after the commit, or not at all."""

import json
import socket
import time

import pytest
import redis

from backend.services.events import worker_wakeup
from backend.services.events.broker import client_url
from backend.services.runs import runs
from tests.factories.records import World


@pytest.fixture
def inbox(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> "redis.Redis":
    """The broker, with Celery's queue emptied."""
    configure(monkeypatch, redis_url)
    client = redis.Redis.from_url(client_url(redis_url))
    client.delete("celery")
    return client


def configure(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    from backend.config import Settings

    settings = Settings(DATABASE_URL="", REDIS_URL=url)
    monkeypatch.setattr(worker_wakeup, "get_settings", lambda: settings)


class TestWakeWorkers:
    def test_one_message_per_commit(self, ready: World, inbox: "redis.Redis") -> None:
        with ready.work() as session:
            worker_wakeup.wake_workers(session)
            worker_wakeup.wake_workers(session)
            assert inbox.llen("celery") == 0
        messages = inbox.lrange("celery", 0, -1)
        assert [json.loads(message)["headers"]["task"] for message in messages] == ["worker.tasks.wake"]
        inbox.close()

    def test_rollback_sends_no_message(self, ready: World, inbox: "redis.Redis") -> None:
        def fail() -> None:
            with ready.work() as session:
                worker_wakeup.wake_workers(session)
                raise KeyError

        with pytest.raises(KeyError):
            fail()
        with ready.work() as session:
            assert session.info == {}
        assert inbox.llen("celery") == 0
        inbox.close()

    def test_submitting_a_run_wakes_them(self, ready: World, inbox: "redis.Redis") -> None:
        ready.worker()
        run = ready.submit()
        assert inbox.llen("celery") == 1
        ready.do(runs.cancel_run, run.id)
        assert inbox.llen("celery") == 1
        inbox.close()

    def test_a_broker_that_is_away_costs_little_and_fails_nothing(
        self, ready: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port = found.getsockname()[1]
        configure(monkeypatch, f"redis://127.0.0.1:{port}/0")
        ready.worker()
        begun = time.monotonic()
        assert ready.submit().state == "queued"
        assert time.monotonic() - begun < 30
