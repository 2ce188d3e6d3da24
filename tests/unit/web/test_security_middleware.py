from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.params import File
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from pydantic import SecretStr
from starlette.testclient import WebSocketDenialResponse

from backend.addresses import API
from backend.config import Settings
from backend.domain.errors import Invalid
from backend.web import api_routes, page_routes
from backend.web.app import create_app
from backend.web.headers import CSP
from backend.web.security_middleware import BODY_LIMIT, COOKIE, session_value, takes_files
from tests.error_codes import raises_code

TOKEN = "s3cret-token-of-16"
OWN = "http://127.0.0.1:8000"
WS = "ws://127.0.0.1:8000"
Make = Callable[..., TestClient]


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Clients of services without a database: what the guard refuses never gets so far.

    One service for the same settings: the first request to each makes its routes, which takes 0.2 s.
    """
    folder = tmp_path_factory.mktemp("data")
    apps: list[tuple[dict[str, Any], FastAPI]] = []

    def build(**more: Any) -> TestClient:
        app = next((app for settings, app in apps if settings == more), None)
        if app is None:
            app = create_app(Settings(data_dir=folder, **more))
            apps.append((more, app))
        return TestClient(app, base_url=OWN, raise_server_exceptions=False, follow_redirects=False)

    return build


class TestHost:
    def test_a_foreign_name_is_refused(self, make: Make) -> None:
        answer = make().get("/login", headers={"Host": "evil.example"})
        assert answer.status_code == 403
        assert answer.json()["code"] == "host_not_allowed"
        assert answer.headers["content-type"] == "application/problem+json"

    def test_browser_gets_a_readable_error(self, make: Make) -> None:
        answer = make().get("/runs", headers={"Host": "evil.example<b>", "Accept": "text/html"})
        assert answer.status_code == 403
        assert answer.headers["content-type"].startswith("text/html")
        assert answer.headers["content-security-policy"] == CSP
        assert "<h1>Deskarena does not know this address</h1>" in answer.text
        assert "DESKARENA_ALLOWED_HOSTS" in answer.text
        # Nothing else of the service is to be had under this name.
        assert "src=" not in answer.text
        assert "href=" not in answer.text
        assert "<b>" not in answer.text

    def test_our_own_name_passes(self, make: Make) -> None:
        assert make().get("/login").status_code == 200

    def test_a_websocket_under_a_foreign_name_never_opens(self, make: Make) -> None:
        with pytest.raises(WebSocketDenialResponse) as refused, make().websocket_connect("ws://evil.example/ws/events"):
            pass
        assert "does not answer for the host" in refused.value.json()["detail"]


class TestOrigin:
    @pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:9999"])
    def test_a_foreign_page_cannot_post(self, make: Make, origin: str) -> None:
        answer = make().post("/api/v1/runs", json={}, headers={"Origin": origin})
        assert answer.status_code == 403
        assert "another site" in answer.json()["detail"]

    def test_a_foreign_page_cannot_post_a_form(self, make: Make) -> None:
        answer = make().post("/login", data={"token": "x"}, headers={"Origin": "http://evil.example"})
        assert answer.status_code == 403

    def test_a_foreign_page_cannot_read_the_api(self, make: Make) -> None:
        assert make().get("/api/v1/runs", headers={"Origin": "http://evil.example"}).status_code == 403

    def test_a_browser_that_says_cross_site_is_believed(self, make: Make) -> None:
        answer = make().post("/api/v1/runs", json={}, headers={"Sec-Fetch-Site": "cross-site"})
        assert answer.status_code == 403

    def test_a_link_from_another_site_may_open_a_page(self, make: Make) -> None:
        assert make().get("/login", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200

    def test_our_own_page_may_post(self, make: Make) -> None:
        answer = make().post("/login", data={"token": "x"}, headers={"Origin": OWN, "Sec-Fetch-Site": "same-origin"})
        assert answer.status_code == 303

    @pytest.mark.parametrize("path", ["/ws/events", "/ws/runs/0/events", "/ws/attempts/0/live"])
    def test_a_foreign_page_opens_no_websocket(self, make: Make, path: str) -> None:
        headers = {"Origin": "http://evil.example"}
        with (
            pytest.raises(WebSocketDenialResponse) as refused,
            make().websocket_connect(f"{WS}{path}", headers=headers),
        ):
            pass
        assert "another site" in refused.value.json()["detail"]

    def test_our_own_page_opens_one(self, make: Make) -> None:
        with make().websocket_connect(f"{WS}/ws/events", headers={"Origin": OWN}) as socket:
            assert socket.accepted_subprotocol is None


class TestToken:
    def test_listening_on_the_network_without_a_token_is_refused(self, make: Make) -> None:
        with raises_code(Invalid, "token_required_to_listen"):
            make(host="0.0.0.0")

    def test_request_without_the_token_is_401(self, make: Make) -> None:
        answer = make(token=SecretStr(TOKEN)).get("/api/v1/runs")
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")

    @pytest.mark.parametrize("given", ["Bearer wrong", "Basic s3cret-token-of-16", "Bearer ", "bearer"])
    def test_a_wrong_one_is_refused(self, make: Make, given: str) -> None:
        answer = make(token=SecretStr(TOKEN)).get("/api/v1/runs", headers={"Authorization": given})
        assert answer.status_code == 401

    def test_page_redirects_to_login_and_back(self, make: Make) -> None:
        answer = make(token=SecretStr(TOKEN)).get("/runs?agent=x", headers={"Accept": "text/html"})
        assert answer.status_code == 303
        assert answer.headers["location"] == "/login?next=/runs%3Fagent%3Dx"

    def test_the_form_sets_a_cookie_that_no_script_reads(self, make: Make) -> None:
        client = make(token=SecretStr(TOKEN))
        answer = client.post("/login", data={"token": TOKEN, "next": "/docs/api-reference"})
        cookie = answer.headers["set-cookie"]
        assert (answer.status_code, answer.headers["location"]) == (303, "/docs/api-reference")
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert TOKEN not in cookie
        assert client.get("/docs/api-reference").status_code == 200

    def test_the_form_refuses_a_wrong_token(self, make: Make) -> None:
        answer = make(token=SecretStr(TOKEN)).post("/login", data={"token": "no"})
        assert answer.status_code == 401
        assert "set-cookie" not in answer.headers

    @pytest.mark.parametrize("following", ["//evil.example", "https://evil.example", "/\\evil.example", "/\nx"])
    def test_the_form_leads_nowhere_else(self, make: Make, following: str) -> None:
        answer = make(token=SecretStr(TOKEN)).post("/login", data={"token": TOKEN, "next": following})
        assert answer.headers["location"] == "/"

    def test_a_websocket_needs_it_too(self, make: Make) -> None:
        client = make(token=SecretStr(TOKEN))
        with pytest.raises(WebSocketDenialResponse) as refused, client.websocket_connect(f"{WS}/ws/events"):
            pass
        assert "token" in refused.value.json()["detail"]
        with client.websocket_connect(f"{WS}/ws/events", headers={"Authorization": f"Bearer {TOKEN}"}) as socket:
            assert socket.accepted_subprotocol is None

    def test_a_forged_cookie_is_refused(self, make: Make) -> None:
        client = make(token=SecretStr(TOKEN))
        headers = {"Cookie": f"{COOKIE}={session_value('another')}", "Accept": "application/json"}
        assert client.get("/docs/api-reference", headers=headers).status_code == 401


class TestBody:
    def test_a_body_over_the_limit_is_refused_by_its_stated_length(self, make: Make) -> None:
        answer = make().post("/api/v1/runs", content=b" " * (BODY_LIMIT + 1))
        assert answer.status_code == 413
        assert answer.json()["code"] == "request_too_large"

    def test_chunked_body_is_limited_by_its_real_length(self, make: Make) -> None:
        def parts() -> Iterator[bytes]:
            for _ in range(20):
                yield b" " * (BODY_LIMIT // 10)

        answer = make().post("/api/v1/runs", content=parts(), headers={"Content-Type": "application/json"})
        assert answer.status_code == 413


class TestHeaders:
    @pytest.mark.parametrize("path", ["/login", "/api/v1/nothing", "/static/x/css/base.css", "/api/v1/runs"])
    def test_every_answer_carries_them(self, make: Make, path: str) -> None:
        headers = make().get(path).headers
        assert headers["content-security-policy"] == CSP
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cross-origin-resource-policy"] == "same-origin"

    def test_no_inline_script_or_style_passes(self) -> None:
        assert "unsafe" not in CSP
        assert "script-src 'self';" in CSP
        assert "frame-ancestors 'none'" in CSP


def test_every_route_with_a_file_takes_a_large_body() -> None:
    routes = [route for router in (*api_routes.ROUTERS, *page_routes.ROUTERS) for route in router.routes]
    bodies = [(each.path, each.body_field) for each in routes if isinstance(each, APIRoute) and each.body_field]
    paths = {path for path, body in bodies if isinstance(body.field_info, File)}
    assert {f"{API}/benchmarks", f"{API}/demonstrations"} <= paths
    assert [path for path in paths if not takes_files(path)] == []
