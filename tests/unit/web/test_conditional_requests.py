"""ETags, 304 and compression, in front of a small application."""

from collections.abc import AsyncIterator

import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from backend.web.conditional_requests import CACHE, ConditionalRequests, is_known

PAGE = "<p>" + "a page with words " * 100


async def _parts() -> AsyncIterator[bytes]:
    yield b"one"
    yield b"two"


def app() -> Starlette:
    routes = [
        Route("/page", lambda _: HTMLResponse(PAGE, headers={"Cache-Control": CACHE}), methods=["GET", "POST"]),
        Route("/json", lambda _: JSONResponse({"a": 1})),
        Route("/secret", lambda _: JSONResponse({"a": 1}, headers={"Cache-Control": "no-store"})),
        Route("/picture", lambda _: Response(b"png", media_type="image/png")),
        Route("/own", lambda _: JSONResponse({}, headers={"ETag": '"mine"'})),
        Route("/error", lambda _: JSONResponse({}, status_code=409)),
        Route("/stream", lambda _: StreamingResponse(_parts(), media_type="text/html")),
    ]
    made = Starlette(routes=routes)
    made.add_middleware(ConditionalRequests)
    return made


@pytest.fixture
def client() -> TestClient:
    return TestClient(app())


class TestTag:
    @pytest.mark.parametrize("path", ["/page", "/json"])
    def test_a_matching_tag_gets_no_body(self, client: TestClient, path: str) -> None:
        first = client.get(path)
        again = client.get(path, headers={"If-None-Match": first.headers["etag"]})
        assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
        assert again.headers["etag"] == first.headers["etag"]
        assert first.headers["cache-control"] == again.headers["cache-control"] == CACHE
        assert not {"content-type", "content-length"} & set(again.headers)

    def test_another_answer_is_sent(self, client: TestClient) -> None:
        other = client.get("/json").headers["etag"]
        answer = client.get("/page", headers={"If-None-Match": other})
        assert (answer.status_code, answer.text) == (200, PAGE)

    def test_head_has_it_too(self, client: TestClient) -> None:
        assert client.head("/page").headers["etag"].startswith('W/"')

    @pytest.mark.parametrize("path", ["/secret", "/picture", "/error", "/stream"])
    def test_others_have_none(self, client: TestClient, path: str) -> None:
        assert "etag" not in client.get(path).headers

    def test_a_stream_is_whole(self, client: TestClient) -> None:
        assert client.get("/stream").text == "onetwo"

    def test_an_own_tag_stays(self, client: TestClient) -> None:
        assert client.get("/own").headers["etag"] == '"mine"'

    def test_a_post_has_none(self, client: TestClient) -> None:
        answer = client.post("/page", headers={"If-None-Match": "*"})
        assert (answer.status_code, "etag" in answer.headers) == (200, False)


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ('W/"a"', True),
        ('"a"', True),
        ('"b", W/"a"', True),
        ("*", True),
        ("", False),
        ('"b"', False),
        ('W/"a', False),
        ('"aa"', False),
    ],
)
def test_etag_matches_the_header(known: str, *, expected: bool) -> None:
    assert is_known('W/"a"', known) is expected
