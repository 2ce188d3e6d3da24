"""The database goes away under a running service and comes back: calm answers meanwhile, and no restart."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.cli.embedded.postgres import start_postgres
from backend.cli.embedded.server import RunningServer
from tests import databases
from tests.factories.records import world
from tests.integration.web.conftest import client_of
from tests.waiting import until


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder of this test's own, so that its server can be stopped."""
    return tmp_path_factory.mktemp("outage")


@pytest.fixture
def server(folder: Path) -> Iterator[RunningServer]:
    """A server that the test may stop."""
    running = start_postgres(folder, durable=False)
    try:
        databases.make_template(running.url)
        yield running
    finally:
        running.stop()


class TestOutage:
    def test_service_reports_a_database_outage_and_recovers(
        self, server: RunningServer, folder: Path, tmp_path: Path
    ) -> None:
        with world(databases.renamed(server.url, databases.TEMPLATE)) as made:
            client = client_of(made, tmp_path)
            assert client.get("/api/v1/runs").status_code == 200

            server.stop()
            answer = client.get("/api/v1/runs")
            page = client.get("/", headers={"Accept": "text/html"})
            assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")
            assert answer.headers["retry-after"]
            assert page.status_code == 503
            assert "Try again" in page.text
            assert client.get("/healthz").json()["status"] == "down"
            assert client.get("/readyz").status_code == 503
            assert client.get("/readyz").json()["status"] == "database"
            assert client.get("/livez").status_code == 200
            for path in ("/", "/runs", "/api/v1/runs", "/healthz", "/readyz"):
                text = client.get(path, headers={"Accept": "text/html"}).text
                assert str(folder) not in text
                assert ".s.PGSQL" not in text

            again = start_postgres(folder, durable=False)
            try:
                until(lambda: client.get("/api/v1/runs").status_code == 200, 30, what="it recovers")
                assert client.get("/", headers={"Accept": "text/html"}).status_code == 200
            finally:
                again.stop()
