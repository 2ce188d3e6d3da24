import json
from collections.abc import Callable
from typing import Any, ClassVar

import httpx
import pytest

from backend.cli.client import Api
from backend.cli.errors import CliError, ExitCode, UsageError
from tests.error_codes import raises_code

Handler = Callable[[httpx.Request], httpx.Response]


def api(handler: Handler, token: str = "") -> Api:
    return Api("http://127.0.0.1:1", token, httpx.MockTransport(handler))


def answering(status: int, body: Any) -> Handler:
    return lambda _: httpx.Response(status, json=body)


class TestInit:
    def test_refuses_an_address_without_a_scheme(self) -> None:
        with raises_code(UsageError, "invalid_server_address"):
            Api("127.0.0.1:8000")

    def test_takes_address_and_token_from_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DESKARENA_SERVER", "http://example.test/")
        monkeypatch.setenv("DESKARENA_TOKEN", "abc")
        echo = httpx.MockTransport(lambda request: httpx.Response(200, json=request.headers["authorization"]))
        with Api(transport=echo) as client:
            assert client.server == "http://example.test"
            assert client.get("/runs") == "Bearer abc"


class TestGet:
    def test_omits_none_parameters(self) -> None:
        with api(lambda request: httpx.Response(200, json=str(request.url))) as client:
            assert client.get("/runs", status=None, limit=3) == "http://127.0.0.1:1/api/v1/runs?limit=3"

    def test_sends_the_token(self) -> None:
        with api(lambda request: httpx.Response(200, json=request.headers["authorization"]), "abc") as client:
            assert client.get("/runs") == "Bearer abc"


class TestPost:
    def test_sends_json_and_headers(self) -> None:
        def echo(request: httpx.Request) -> httpx.Response:
            return httpx.Response(200, json=[json.loads(request.content), request.headers["idempotency-key"]])

        with api(echo) as client:
            assert client.post("/runs", {"a": 1}, {"Idempotency-Key": "k"}) == [{"a": 1}, "k"]


class TestItems:
    PAGES: ClassVar = {
        "/api/v1/runs?limit=200": {"items": [1, 2], "next": "/api/v1/runs?limit=200&cursor=x"},
        "/api/v1/runs?limit=200&cursor=x": {"items": [3], "next": None},
        "/api/v1/runs?limit=1": {"items": [1], "next": "/never"},
    }

    def pages(self, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=self.PAGES[request.url.raw_path.decode()])

    def test_follows_next_to_the_end(self) -> None:
        with api(self.pages) as client:
            assert list(client.items("/runs")) == [1, 2, 3]

    def test_asks_for_no_page_beyond_the_limit(self) -> None:
        with api(self.pages) as client:
            assert list(client.items("/runs", 1)) == [1]


class TestErrors:
    PROBLEM: ClassVar = {
        "detail": "agent: there is no agent called 'gpt'",
        "hint": "Known: noop, oracle.",
        "errors": [{"path": "agent", "message": "unknown"}, {"path": "repeats", "message": "too many"}],
    }

    def test_a_problem_becomes_one_line_with_what_to_do(self) -> None:
        with api(answering(422, self.PROBLEM)) as client, pytest.raises(CliError) as caught:
            client.get("/runs")
        assert str(caught.value) == "agent: there is no agent called 'gpt'. repeats: too many. Known: noop, oracle."
        assert caught.value.exit_code is ExitCode.USAGE

    def test_a_failing_service_is_infrastructure(self) -> None:
        with api(answering(503, {"detail": "the database is away"})) as client, pytest.raises(CliError) as caught:
            client.get("/runs")
        assert caught.value.exit_code is ExitCode.INFRASTRUCTURE

    def test_a_missing_token_says_which_variable(self) -> None:
        with (
            api(answering(401, {"detail": "a token is needed"})) as client,
            raises_code(CliError, "unexpected_answer", mentions="TOKEN"),
        ):
            client.get("/runs")

    def test_an_answer_that_is_not_json_is_reported(self) -> None:
        def page(_: httpx.Request) -> httpx.Response:
            return httpx.Response(200, text="<html>")

        with api(page) as client, raises_code(CliError, "not_a_service"):
            client.get("/runs")

    def test_an_error_that_is_not_a_problem_still_names_address_and_status(self) -> None:
        def page(_: httpx.Request) -> httpx.Response:
            return httpx.Response(502, text="Bad Gateway")

        with api(page) as client, raises_code(CliError, "unexpected_answer", mentions=("/api/v1/runs", "502")):
            client.get("/runs")

    def test_unreachable_service_hints_at_up(self) -> None:
        def refuse(request: httpx.Request) -> httpx.Response:
            raise httpx.ConnectError("refused", request=request)

        with api(refuse) as client, raises_code(CliError, "service_not_found", mentions="127.0.0.1:1") as caught:
            client.get("/runs")
        assert caught.value.exit_code is ExitCode.INFRASTRUCTURE
