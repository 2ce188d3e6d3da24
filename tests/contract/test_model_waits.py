"""Calls of models while they wait, and their counts, whichever API is spoken."""

import threading
from collections.abc import Iterator
from datetime import date

import pytest

from backend.domain.errors import Cancelled, ModelApiFailed
from backend.domain.model.prices import Price
from tests.error_codes import raises_code
from tests.factories.models import KEY, LIVE, asked, client, close_clients, endpoint
from tests.fakes.model_server import ModelServer, model_server
from tests.waiting import until
from worker.models.usage_meter import UsageMeter
from worker.models.wait_timer import WaitTimer

PRICE = Price(model="model-*", since=date(2020, 1, 1), input=10, cached=1, output=100)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as found:
        found.key = KEY
        yield found


@pytest.fixture(autouse=True)
def _closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("worker.models.retrying_client.FIRST_PAUSE", 0.05)
    yield
    close_clients()


@pytest.fixture(params=LIVE)
def api(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class TestWaits:
    def test_a_wait_is_visible_while_it_lasts(self, server: ModelServer, api: str) -> None:
        server.fail_for(60, retry_after="50")
        waited, stop = WaitTimer(), threading.Event()

        def pause(seconds: float) -> None:
            if stop.wait(min(seconds, 0.1)):
                raise Cancelled("over")

        told = endpoint(api, f"{server.address}/v1")

        def ask() -> None:
            with pytest.raises(Cancelled):
                client(told, waited=waited, pause=pause).complete(asked("Hi"))

        thread = threading.Thread(target=ask)
        thread.start()
        until(lambda: (wait := waited.longest(0.3)) is not None and wait.limited)
        wait = waited.longest(0.3)
        stop.set()
        thread.join()
        assert wait is not None
        assert (wait.endpoint, wait.failures, wait.limited) == ("test", 1, True)
        assert wait.words.startswith("HTTP 429: ")
        assert "slow down" in wait.words
        assert 20 < (wait.retry_seconds or 0) <= 30  # As long as it is patient.
        assert waited.longest(0.0) is None
        assert waited.seconds() == waited.seconds()

    def test_a_slow_reply_can_be_seen_too(self, server: ModelServer, api: str) -> None:
        server.hang()
        waited, stop = WaitTimer(), threading.Event()

        def pause(seconds: float) -> None:
            if stop.wait(min(seconds, 0.1)):
                raise Cancelled("over")

        def ask() -> None:
            with pytest.raises(Cancelled):
                client(endpoint(api, f"{server.address}/v1"), waited=waited, pause=pause).complete(asked("Hi"))

        thread = threading.Thread(target=ask)
        thread.start()
        until(lambda: bool(server.asked) and waited.longest(0.3) is not None)
        wait = waited.longest(0.3)
        stop.set()
        thread.join()
        assert wait is not None
        assert (wait.words, wait.failures, wait.retry_seconds, wait.limited) == ("", 0, None, False)


class TestCounts:
    def test_requests_are_counted(self, server: ModelServer, api: str) -> None:
        server.fail(429, retry_after="0.01", times=2)
        server.fail(500)
        server.cut()
        server.nonsense()
        server.say("At last.", tokens=(100, 40, 10))
        server.fail(401)
        meter = UsageMeter()
        asking = client(endpoint(api, f"{server.address}/v1", prices=(PRICE,)), meter=meter)
        asking.complete(asked("Hi", model="model-1"))
        with raises_code(ModelApiFailed, "model_api_failed"):
            asking.complete(asked("Hi", model="model-1"))
        rows = meter.unwritten()
        errors = {kind: sum(row.errors.get(kind, 0) for row in rows) for row in rows for kind in row.errors}
        assert errors == {"HTTP 429": 2, "HTTP 500": 1, "connection": 1, "invalid reply": 1, "HTTP 401": 1}
        assert {(row.endpoint, row.model) for row in rows} == {("test", "model-1")}
        assert [sum(getattr(row, name) for row in rows) for name in ("answered", "gave_up", "input_tokens")] == [
            1, 1, 100,
        ]  # fmt: skip
        assert sum(row.usd for row in rows) == pytest.approx((60 * 10 + 40 * 1 + 10 * 100) / 1e6)
        assert sum(sum(row.latencies) for row in rows) == 1
        assert rows[-1].last_error.startswith("HTTP 401")
        assert KEY not in str(rows)
