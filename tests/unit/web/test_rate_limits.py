"""The limit of requests to the API, by a clock of the test's own."""

from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from backend.services.accounts.principal import Principal
from backend.web.rate_limits import RateLimits
from tests.fakes.clock import FakeClock

PATH = "/api/v1/runs"


def limited(clock: FakeClock, per_minute: int) -> TestClient:
    """A client of an application whose callers say in `From` who they are."""
    app = RateLimits(Starlette(routes=[Route("/{path:path}", lambda _: Response())]), per_minute, clock.now)

    async def identified(scope: Scope, receive: Receive, send: Send) -> None:
        name = dict(scope["headers"]).get(b"from", b"ada").decode()
        await app({**scope, "state": {"principal": Principal(name, None)}}, receive, send)

    return TestClient(identified)


class TestRateLimits:
    def test_retry_after_names_the_next_slot(self) -> None:
        clock = FakeClock()
        client = limited(clock, 3)
        assert [client.get(PATH).status_code for _ in range(4)] == [200, 200, 200, 429]
        waits = []
        for seconds in (0, 0.5, 1, 18):  # Of the twenty that one request takes to come back.
            clock.sleep(seconds)
            waits.append(client.get(PATH).headers["retry-after"])
        assert waits == ["20", "20", "19", "1"]
        clock.sleep(0.5)
        assert [client.get(PATH).status_code for _ in range(2)] == [200, 429]

    def test_burst_is_limited_to_a_minutes_requests(self) -> None:
        clock = FakeClock()
        client = limited(clock, 3)
        client.get(PATH)
        clock.sleep(3600)
        assert [client.get(PATH).status_code for _ in range(4)] == [200, 200, 200, 429]

    def test_each_caller_has_their_own_and_pages_and_agents_have_none(self) -> None:
        client = limited(FakeClock(), 1)
        assert [client.get(PATH).status_code for _ in range(2)] == [200, 429]
        assert client.get(PATH, headers={"From": "eve"}).status_code == 200
        assert [client.get(path).status_code for path in ("/runs", "/api/v1/agent/actions")] == [200, 200]
