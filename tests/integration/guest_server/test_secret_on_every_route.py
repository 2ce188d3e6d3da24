"""No route without the secret."""

from types import SimpleNamespace
from typing import cast

import pytest

from backend.domain.errors import GuestLost
from guest_server.app import build_app
from guest_server.protocol.limits import GuestLimits
from guest_server.protocol.machine import Machine
from tests.error_codes import raises_code
from tests.integration.guest_server.session import SECRET, RunningSession
from worker.desktops import GuestDesktop

pytestmark = pytest.mark.desktop

UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg==",
}


def routes() -> list[tuple[str, str]]:
    """The router's own table, with the path that does not exist added."""
    app = build_app(cast("Machine", SimpleNamespace(limits=GuestLimits(), screen=None, capabilities=())))
    table = [(route.method, route.resource.canonical) for route in app.router.routes() if route.resource is not None]
    return [*((method, path.replace("{port}", "9222")) for method, path in table), ("GET", "/no/such/route")]


class TestEveryRoute:
    @pytest.mark.parametrize(("method", "path"), routes())
    def test_refuses_without_the_secret(self, session: RunningSession, method: str, path: str) -> None:
        upgrade = UPGRADE if path in {"/stream", "/egress"} or path.startswith("/tunnel") else {}
        with session.client(upgrade) as client:
            for authorization in (None, f"Bearer {SECRET}x", f"Basic {SECRET}", "Bearer x", SECRET):
                headers = {"Authorization": authorization} if authorization is not None else {}
                response = client.request(method, path, headers=headers)
                assert response.status_code == 401, authorization
                assert method == "HEAD" or response.json()["error"] == "unauthorized"

    def test_the_table_is_the_whole_api(self) -> None:
        assert len({path for _, path in routes()}) > 40


class TestNewSecret:
    def test_the_old_one_is_refused_from_then_on(self, session: RunningSession) -> None:
        address, other = f"unix:{session.socket_path}", "another-secret-0123456789"
        desktop = GuestDesktop(address, SECRET)
        desktop.replace_secret(other)
        try:
            assert desktop.probe().platform == "Linux"
            with raises_code(GuestLost, "desktop_unhealthy", mentions="Authorization"):
                session.desktop.probe()
        finally:
            desktop.replace_secret(SECRET)
            desktop.close()
        assert session.desktop.probe().platform == "Linux"


class TestRefusals:
    def test_an_unknown_route_is_reported_as_json(self, session: RunningSession) -> None:
        response = session.http.get("/nothing")
        assert (response.status_code, response.json()["error"]) == (404, "not_found")

    def test_the_wrong_method(self, session: RunningSession) -> None:
        response = session.http.get("/execute")
        assert (response.status_code, response.json()["error"]) == (405, "method_not_allowed")

    @pytest.mark.parametrize("body", [b"{", b"[1]", b"\xff", b"[" * 100_000])
    def test_a_broken_body(self, session: RunningSession, body: bytes) -> None:
        response = session.http.post("/execute", content=body)
        assert (response.status_code, response.json()["error"]) == (400, "bad_request")
