from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import text

from backend.db.compatibility import OldSchema
from backend.web.graceful_shutdown import ELSEWHERE
from tests.factories.records import World, world

PROXIED = {ELSEWHERE.decode(): "429"}


@pytest.fixture
def installation(fresh_database: str) -> Iterator[World]:
    """A database of each test's own: its schema's number is changed."""
    with world(fresh_database) as made:
        yield made


def drain(client: TestClient) -> None:
    """The draining that SIGTERM begins."""
    app = client.app
    assert isinstance(app, FastAPI)
    app.state.edge.drain.draining = True


class TestReady:
    def test_is_200_on_its_own_schema(self, fresh: TestClient) -> None:
        answer = fresh.get("/readyz")
        assert (answer.status_code, answer.json()["status"]) == (200, "ready")

    def test_older_schema_is_503_but_the_process_is_alive(self, fresh: TestClient, installation: World) -> None:
        installation.do(lambda session: session.execute(text("UPDATE alembic_version SET version_num = '0021'")))
        answer = fresh.get("/readyz")
        assert (answer.status_code, answer.json()["status"]) == (503, "schema")
        assert answer.json()["reason"] == OldSchema("The database").message
        assert fresh.get("/livez").status_code == 200

    def test_a_newer_schema_that_only_adds_is_200(self, fresh: TestClient, installation: World) -> None:
        installation.do(lambda session: session.execute(text("UPDATE alembic_version SET version_num = '9999'")))
        assert fresh.get("/readyz").status_code == 200

    def test_draining_is_503(self, fresh: TestClient) -> None:
        drain(fresh)
        answer = fresh.get("/readyz", headers=PROXIED)
        assert (answer.status_code, answer.json()["status"]) == (503, "draining")


class TestDraining:
    def test_a_proxy_that_can_is_sent_elsewhere_and_nothing_is_begun(self, fresh: TestClient) -> None:
        drain(fresh)
        answer = fresh.post("/api/v1/runs", json={}, headers=PROXIED)
        assert answer.status_code == 429
        assert answer.headers["connection"] == "close"

    def test_everybody_else_is_served_and_the_connection_closed(self, fresh: TestClient) -> None:
        drain(fresh)
        answer = fresh.get("/api/v1/runs")
        assert answer.status_code == 200
        assert answer.headers["connection"] == "close"

    def test_before_it_the_header_means_nothing(self, fresh: TestClient) -> None:
        assert fresh.get("/api/v1/runs", headers=PROXIED).status_code == 200
