import errno
import tempfile
from http import HTTPStatus
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy.exc import DBAPIError, OperationalError
from starlette.exceptions import HTTPException

from backend.config import Settings
from backend.domain.errors import Invalid, NotFound, Unavailable
from backend.web.app import create_app
from backend.web.errors import path_of, problem, to_deskarena_error


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    """A service without a database."""
    return TestClient(
        create_app(Settings(data_dir=tmp_path)), base_url="http://127.0.0.1", raise_server_exceptions=False
    )


class TestPathOf:
    def test_a_field_of_the_body(self) -> None:
        assert path_of(("body", "budget", "max_steps")) == "budget.max_steps"

    def test_a_parameter_keeps_its_place(self) -> None:
        assert path_of(("query", "limit")) == "query.limit"


class TestProblem:
    def test_says_code_hint_and_place(self) -> None:
        found = problem(Invalid("no such agent", path="agent", hint="Known: noop."))
        assert found.model_dump() == {
            "type": "/docs/errors.html#invalid",
            "title": HTTPStatus(422).phrase,
            "status": 422,
            "code": "invalid",
            "detail": "agent: no such agent",
            "hint": "Known: noop.",
            "path": "agent",
            "errors": [],
        }


class TestAsOurs:
    def test_our_own_pass(self) -> None:
        error = NotFound("gone")
        assert to_deskarena_error(error) is error

    def test_a_database_that_is_away_is_unavailable(self) -> None:
        assert isinstance(to_deskarena_error(OperationalError("select", {}, Exception("no route"))), Unavailable)

    def test_a_lost_connection_too(self) -> None:
        lost = DBAPIError("select", {}, Exception("gone"), connection_invalidated=True)
        assert isinstance(to_deskarena_error(lost), Unavailable)

    def test_a_body_that_the_disk_has_no_room_for(self, client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(tempfile.SpooledTemporaryFile, "rollover", full)
        files = {"file": ("b.zip", bytes(3 << 20))}
        answer = client.post("/api/v1/benchmarks", data={"kind": "starter", "name": "mine"}, files=files)
        assert (answer.status_code, answer.json()["code"]) == (507, "disk_full")
        assert "TMPDIR" in answer.json()["hint"]

    def test_a_body_that_breaks_otherwise_is_broken(self) -> None:
        broken = HTTPException(400, "There was an error parsing the body")
        broken.__cause__ = OSError(errno.EIO, "Input/output error")
        assert to_deskarena_error(broken).status == 400

    def test_unexpected_error_hides_its_details(self) -> None:
        found = to_deskarena_error(ValueError("password=hunter2"))
        assert found.status == 500
        assert "hunter2" not in found.message


class TestAnswers:
    def test_every_wrong_field_is_named(self, client: TestClient) -> None:
        answer = client.post("/api/v1/runs", json={"benchmark": "", "budget": {"max_steps": 0}, "typo": 1})
        assert answer.status_code in {422, 503}

    def test_no_database_is_503_with_the_time_to_come_back(self, client: TestClient) -> None:
        answer = client.get("/api/v1/runs")
        assert answer.status_code == 503
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["retry-after"] == "3"

    def test_a_person_gets_a_page(self, client: TestClient) -> None:
        answer = client.get("/", headers={"Accept": "text/html"})
        assert answer.status_code == 503
        assert "text/html" in answer.headers["content-type"]
        assert 'data-controller="retry"' in answer.text

    def test_an_unknown_address(self, client: TestClient) -> None:
        assert client.get("/api/v1/nothing").json()["code"] == "page_not_found"
        assert "page_not_found" in client.get("/nothing", headers={"Accept": "text/html"}).text

    def test_wrong_method_gets_the_allowed_ones(self, client: TestClient) -> None:
        answer = client.put("/api/v1/runs")
        assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
        assert answer.headers["allow"] == "GET, HEAD, OPTIONS, POST"

    def test_health_says_down(self, client: TestClient) -> None:
        answer = client.get("/healthz")
        assert (answer.status_code, answer.json()["status"]) == (503, "down")
