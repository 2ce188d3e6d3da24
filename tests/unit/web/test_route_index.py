"""The routes of a request, found by the first part of its path, are those that the whole router finds."""

from collections.abc import Sequence
from uuid import uuid4

import pytest
from fastapi import APIRouter, FastAPI, WebSocket
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient
from starlette.routing import BaseRoute, Match, compile_path
from starlette.types import Scope

from backend.config import Settings
from backend.web.app import create_app
from backend.web.route_index import RouteIndex, first_part


def scope_of(app: FastAPI, method: str, path: str) -> Scope:
    kind = {"type": "websocket"} if method == "WS" else {"type": "http", "method": method}
    return {**kind, "path": path, "root_path": "", "headers": [], "query_string": b"", "app": app}


def matches(routes: Sequence[BaseRoute], scope: Scope) -> tuple[BaseRoute | None, BaseRoute | None]:
    """The first route that matches, and the first that does but for the method."""
    found = [(route.matches(dict(scope))[0], route) for route in routes]
    full, partial = ([route for match, route in found if match is kind] for kind in (Match.FULL, Match.PARTIAL))
    return next(iter(full), None), next(iter(partial), None)


class TestProduct:
    def test_every_route_is_the_one_that_the_whole_router_finds(self) -> None:
        app = create_app(Settings())
        index = app.router.middleware_stack
        assert isinstance(index, RouteIndex)
        number = 0
        for context in iter_route_contexts(app.router.routes):
            _, template, names = compile_path(context.path or "")
            address = template.format(**dict.fromkeys(names, str(uuid4())))
            for method in {"GET", *(context.methods or {"WS"})} - {"HEAD"}:
                scope = scope_of(app, method, address)
                part = index.part_of(scope)
                assert part is not None, address
                chosen = matches(part.routes, scope)
                assert chosen == matches(app.router.routes, scope), (method, address)
                number += chosen[0] is not None
        assert number > 300

    def test_a_page_tries_few_of_the_routers(self) -> None:
        app = create_app(Settings())
        index = app.router.middleware_stack
        assert isinstance(index, RouteIndex)
        part = index.part_of(scope_of(app, "GET", f"/runs/{uuid4()}"))
        assert part is not None
        assert len(part.routes) < len(app.router.routes) / 5


@pytest.fixture
def client() -> TestClient:
    things, more, any_first = APIRouter(), APIRouter(), APIRouter()
    things.get("/things/new")(lambda: "new")
    things.get("/{kind}/special")(lambda kind: f"special {kind}")
    more.get("/things/{name}")(lambda name: f"one {name}")
    more.put("/other/{name}")(lambda name: f"put {name}")
    any_first.get("/{kind}/{name}")(lambda kind, name: f"any {kind} {name}")

    async def talk(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.send_text("hello")
        await websocket.close()

    more.websocket("/ws/talk")(talk)
    app = FastAPI()
    for router in (things, more, any_first):
        app.include_router(router)
    app.router.middleware_stack = RouteIndex(app.router)
    return TestClient(app)


class TestRequests:
    @pytest.mark.parametrize(
        ("path", "answer"),
        [
            ("/things/new", "new"),
            ("/things/7", "one 7"),
            ("/things/special", "special things"),
            ("/other/7", "any other 7"),
            ("/unknown/special", "special unknown"),
            ("/unknown/7", "any unknown 7"),
        ],
    )
    def test_get_the_first_route_that_matches(self, client: TestClient, path: str, answer: str) -> None:
        assert client.get(path).json() == answer

    def test_with_another_method_get_405(self, client: TestClient) -> None:
        assert client.post("/things/new").status_code == 405
        assert client.put("/other/7").json() == "put 7"

    def test_to_no_route_get_404(self, client: TestClient) -> None:
        assert client.get("/things/7/8").status_code == 404
        assert client.get("/unknown").status_code == 404

    def test_with_a_slash_at_the_end_are_redirected(self, client: TestClient) -> None:
        answer = client.get("/things/new/", follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (307, "http://testserver/things/new")

    def test_below_a_root_path_are_answered_too(self, client: TestClient) -> None:
        assert TestClient(client.app, root_path="/tools").get("/tools/things/7").json() == "one 7"

    def test_websocket_routes_are_found(self, client: TestClient) -> None:
        with client.websocket_connect("/ws/talk") as talk:
            assert talk.receive_text() == "hello"


@pytest.mark.parametrize(
    ("path", "first"),
    [
        ("/", "/"),
        ("/runs", "/runs"),
        ("/runs/7", "/runs"),
        ("/runs.csv", "/runs.csv"),
        ("/api", "/api"),
        ("/api/v1", "/api"),
        ("/api/v1/runs", "/api/v1/runs"),
        ("/api/v1/runs/7/episodes", "/api/v1/runs"),
        ("//runs", "/"),
        ("", ""),
    ],
)
def test_first_part_of_a_path(path: str, first: str) -> None:
    assert first_part(path) == first
