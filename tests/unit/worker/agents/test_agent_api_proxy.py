import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.integration.cli.service import ScriptedService
from worker.agents.agent_api_proxy import AgentApiProxy, lets_through


class TestLetsThrough:
    @pytest.mark.parametrize("path", ["/api/v1/agent", "/api/v1/agent/actions", "/api/v1/agent/observation?after=1"])
    def test_agent_paths_pass(self, path: str) -> None:
        assert lets_through(path)

    @pytest.mark.parametrize(
        "path",
        [
            "/", "/api/v1/runs", "/api/v1/agents", "/api/v1/agent/../runs", "/api/v1/agent/%2e%2e/runs",
            "//elsewhere/api/v1/agent", "http://elsewhere/api/v1/agent", "/api/v1/agent\\..\\runs",
        ],
    )  # fmt: skip
    def test_other_paths_are_refused(self, path: str) -> None:
        assert not lets_through(path)


@pytest.fixture
def service() -> Iterator[ScriptedService]:
    made = ScriptedService(
        {"GET /api/v1/agent": {"state": "running"}, "POST /api/v1/agent/actions": (202, {"repeated": False})}
    )
    yield made
    made.stop()


@pytest.fixture
def door(service: ScriptedService, tmp_path: Path) -> Iterator[AgentApiProxy]:
    door = AgentApiProxy(tmp_path / "s", service.url)
    yield door
    door.close()


@pytest.fixture
def inside(door: AgentApiProxy, service: ScriptedService, tmp_path: Path) -> Iterator[httpx.Client]:
    """As a container sees it."""
    with httpx.Client(
        transport=httpx.HTTPTransport(uds=str(door.path)), base_url="http://deskarena", timeout=60
    ) as client:
        yield client
    door.close()
    assert not door.path.exists()
    door_again = AgentApiProxy(tmp_path / "s", service.url)
    door_again.close()


class TestAgentDoor:
    def test_forwards_with_the_token(self, service: ScriptedService, inside: httpx.Client) -> None:
        headers = {"Authorization": "Bearer dka_1", "X-Other": "no"}
        assert inside.get("/api/v1/agent", headers=headers).json() == {"state": "running"}
        answer = inside.post("/api/v1/agent/actions", json={"index": 0}, headers=headers)
        assert (answer.status_code, answer.json()) == (202, {"repeated": False})
        asked, given, body = service.asked[-1]
        assert (asked, body, given["Authorization"]) == ("POST /api/v1/agent/actions", {"index": 0}, "Bearer dka_1")
        assert "X-Other" not in given

    def test_other_routes_get_403(self, service: ScriptedService, inside: httpx.Client) -> None:
        assert inside.get("/api/v1/runs").status_code == 403
        assert inside.post("/api/v1/runs/1/cancel", content=b"x" * 2**22).status_code == 403
        assert inside.get("/api/v1/runs").headers["connection"] == "close"
        assert service.asked == []

    def test_large_request_gets_413(self, service: ScriptedService, inside: httpx.Client) -> None:
        assert inside.post("/api/v1/agent/actions", content=b"x" * (2**20 + 1)).status_code == 413
        assert service.asked == []

    def test_unreachable_api_gets_503(self, tmp_path: Path) -> None:
        door = AgentApiProxy(tmp_path / "s", "http://127.0.0.1:9")
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(door.path)), base_url="http://d", timeout=60) as client:
            assert client.get("/api/v1/agent").status_code == 503
        door.close()

    def test_malformed_requests_are_not_failures_of_the_api(self, door: AgentApiProxy) -> None:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(10.0)
            client.connect(str(door.path))
            client.sendall(b"GET /api/v1/agent HTTP/1.1\r\nAuthorization: Bearer \0\r\n\r\n")
            assert client.recv(4096).startswith(b"HTTP/1.1 400 ")
        assert not door.was_away(0.0)


class TestWasAway:
    def test_responding_api_was_not_away(self, door: AgentApiProxy, inside: httpx.Client) -> None:
        inside.get("/api/v1/agent")
        inside.get("/api/v1/agent/nothing")
        assert not door.was_away(0.0)

    @pytest.mark.parametrize("status", [500, 502, 503])
    def test_unavailable_response_counts_as_away(
        self, door: AgentApiProxy, service: ScriptedService, inside: httpx.Client, status: int
    ) -> None:
        service.answers["POST /api/v1/agent/actions"] = (status, {"detail": "the broker is away"})
        before = time.monotonic()
        assert inside.post("/api/v1/agent/actions", json={"index": 0}).status_code == status
        assert door.was_away(before)
        assert not door.was_away(time.monotonic())

    def test_unreachable_api_counts_as_away(
        self, door: AgentApiProxy, service: ScriptedService, inside: httpx.Client
    ) -> None:
        service.stop()
        before = time.monotonic()
        assert inside.get("/api/v1/agent").status_code == 503
        back = ScriptedService(service.answers, service.port)
        assert door.was_away(before)
        assert not door.was_away(time.monotonic())
        back.stop()

    def test_silent_api_counts_as_away(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("worker.agents.agent_api_proxy.ASK_SECONDS", 0.2)
        with socket.create_server(("127.0.0.1", 0)) as silent:
            door = AgentApiProxy(tmp_path / "s", f"http://127.0.0.1:{silent.getsockname()[1]}")
            assert door.was_away(time.monotonic())
            door.close()


class TestAnswers:
    def test_repeated_and_refused_actions_are_not_counted(
        self, door: AgentApiProxy, service: ScriptedService, inside: httpx.Client
    ) -> None:
        inside.get("/api/v1/agent")
        for said in [(202, {"repeated": False}), (202, {"repeated": True}), (409, {}), (202, []), (202, b"no")]:
            service.answers["POST /api/v1/agent/actions"] = said
            inside.post("/api/v1/agent/actions", json={"index": 0})
        assert door.answers == 1
