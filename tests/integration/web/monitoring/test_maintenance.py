"""Status and maintenance mode over HTTP, and what workers do meanwhile."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from pydantic import SecretStr
from sqlalchemy import text

from backend.config import Settings
from backend.domain.errors import Unavailable
from backend.services.accounts import audit
from backend.services.monitoring.status import PartState, status_of
from backend.services.scheduling import claims
from backend.web.app import create_app
from tests.factories.records import World
from tests.integration.web.conftest import OWN, client_to

ADDRESS = "/api/v1/maintenance"
REASON = "The disk is <b>replaced</b>"
RUN = {"benchmark": "starter", "agent": "noop", "provider": "local"}


class TestMaintenance:
    def test_maintenance_blocks_new_attempts_and_is_audited(self, fresh: TestClient, installation: World) -> None:
        worker = installation.worker()
        run = installation.submit()
        claim = installation.must_claim(worker)
        assert fresh.put(ADDRESS, json={"reason": f" {REASON}\n"}).json()["reason"] == REASON
        assert installation.claim(worker) is None
        refusals = [
            fresh.post("/api/v1/runs", json=RUN),
            fresh.post(f"/api/v1/runs/{run.id}/retry", json={}),
            fresh.post("/runs/new", data={"benchmark": "starter"}),
        ]
        assert [answer.status_code for answer in refusals[:2]] == [503, 503]
        assert refusals[2].status_code in {422, 503}
        assert refusals[0].json()["code"] == "in_maintenance"
        assert refusals[0].headers["retry-after"] == "60"
        installation.score(claim)
        assert fresh.post(f"/api/v1/runs/{run.id}/pause").status_code == 200
        assert fresh.post(f"/api/v1/runs/{run.id}/resume").status_code == 503
        page = fresh.get("/runs", headers={"accept": "text/html"}).text
        assert "The disk is &lt;b&gt;replaced&lt;/b&gt;" in page
        assert fresh.get("/api/v1/status").json()["maintenance"] == REASON
        assert fresh.delete(ADDRESS).json()["on"] is False
        assert fresh.post(f"/api/v1/runs/{run.id}/resume").status_code == 200
        assert installation.claim(worker) is not None
        entries = installation.do(audit.list_entries)
        assert [entry.action for entry in entries if "maintenance" in entry.action] == [
            "maintenance off",
            "maintenance on",
        ]

    def test_held_lease_gets_no_further_episode(self, installation: World, fresh: TestClient) -> None:
        worker = installation.worker()
        installation.submit(repeats=2)
        claim = installation.must_claim(worker)
        installation.run_to_evaluation(claim)
        installation.score_only(claim)
        fresh.put(ADDRESS, json={"reason": "first"})
        assert fresh.put(ADDRESS, json={"reason": "second"}).json()["reason"] == "second"
        assert installation.do(claims.claim_next, claim.lease_id) is None
        fresh.delete(ADDRESS)
        assert installation.do(claims.claim_next, claim.lease_id) is not None

    @pytest.mark.parametrize("reason", ["", "x" * 501, "\x1b[2J"])
    def test_a_reason_is_a_line_of_text(self, fresh: TestClient, reason: str) -> None:
        assert fresh.put(ADDRESS, json={"reason": reason}).status_code == 422


class TestStatus:
    def test_needs_no_token_and_names_no_server(self, installation: World, tmp_path: Path) -> None:
        settings = Settings(data_dir=tmp_path, token=SecretStr("token-of-everything"))
        client = TestClient(create_app(settings, installation.factory, installation.store), base_url=OWN)
        answer = client.get("/api/v1/status")
        parts = {part["name"]: part["state"] for part in answer.json()["parts"]}
        assert parts == {"database": "up", "redis": "degraded", "storage": "up", "workers": "up", "queue": "up"}
        assert (answer.status_code, answer.json()["state"]) == (200, "degraded")
        page = client.get("/status", headers={"accept": "text/html"})
        assert page.status_code == 200
        assert "Something does not work" in page.text
        assert client.get("/api/v1/maintenance").status_code == 401

    def test_an_unavailable_database_is_down_for_both(self, tmp_path: Path) -> None:
        client = client_to(create_app(Settings(data_dir=tmp_path, accounts=True, database_url=SecretStr(""))))
        answer = client.get("/api/v1/status")
        assert (answer.status_code, answer.json()["state"]) == (503, "down")
        assert client.get("/status", headers={"accept": "text/html"}).status_code == 503

    def test_status_shows_degraded_workers_and_storage(self, installation: World) -> None:
        class AwayStore:
            def age(self, *_: object) -> float | None:
                raise Unavailable("away")

        def parts() -> dict[str, PartState]:
            status = status_of(lambda: installation.factory, AwayStore)  # type: ignore[arg-type]
            return {part.name: part.state for part in status.parts}

        installation.submit()
        with installation.work() as session:
            session.execute(text("UPDATE episode SET available_at = now() - interval '1 hour'"))
            session.execute(text("UPDATE run SET created_at = now() - interval '1 hour'"))
        assert parts()["queue"] is PartState.DEGRADED
        assert parts()["storage"] is PartState.DOWN
        with installation.work() as session:
            session.execute(text("""UPDATE worker SET capabilities = capabilities || '{"hindrance": "full"}'"""))
        assert parts()["workers"] is PartState.DEGRADED
        with installation.work() as session:
            session.execute(text("UPDATE worker SET state = 'offline'"))
        assert parts()["workers"] is PartState.DEGRADED
        assert parts()["queue"] is PartState.UP
