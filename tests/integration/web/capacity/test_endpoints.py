"""Model endpoints over the API and on their page; what attempts wait for, on every page that shows them."""

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text

from backend.db.models import Worker
from backend.domain.model.trajectory import Usage
from backend.services.capacity import model_usage
from backend.services.lifecycle import lease_reaper
from backend.services.scheduling import claims
from backend.services.scheduling.claims import Claim
from tests.factories.claims import LIMITED, RATE_LIMIT
from tests.factories.records import World
from worker.models.usage_meter import UsageMeter

ESCAPED = "HTTP 429: slow down &lt;b&gt;please&lt;/b&gt;"


def offered(world: World, **models: object) -> None:
    with world.work() as session:
        for worker in session.query(Worker):
            worker.capabilities = {**worker.capabilities, "models": models}


def used(world: World) -> None:
    """Two answers, one of them without a price, and three failed requests of `lab`."""
    meter = UsageMeter()
    meter.failed("lab", "m-1", "HTTP 429", RATE_LIMIT)
    meter.failed("lab", "m-1", "HTTP 429", RATE_LIMIT)
    meter.answered("lab", "m-1", 4.0, Usage(input_tokens=1200, output_tokens=30, cached_tokens=200, usd=0.25, calls=1))
    meter.answered("lab", "m-2", 1.0, Usage(input_tokens=10, output_tokens=3, priced=False, calls=1))
    meter.failed("lab", "m-2", "HTTP 500", "HTTP 500: out of order")
    meter.gave_up("lab", "m-2")
    world.do(model_usage.record, meter.source, meter.unwritten())


@pytest.fixture
def waiting(installation: World) -> Claim:
    """An attempt whose agent waits for a rate limit."""
    installation.submit()
    with installation.work() as session:
        worker_id = session.execute(text("SELECT id FROM worker")).scalar_one()
    claim: Claim = installation.do(claims.claim_many, worker_id, "local", 1)[0]
    with installation.work() as session:
        session.execute(text("UPDATE attempt SET state = 'running'"))
    installation.do(claims.worker_heartbeat, worker_id, [claim.lease_id], {claim.lease_id: LIMITED})
    return claim


class TestApi:
    def test_usage_is_grouped_by_model_and_window(self, fresh: TestClient, installation: World) -> None:
        offered(installation, lab={"ok": True, "api": "openai_chat", "answers": True, "reason": "http://lab/v1"})
        used(installation)
        (lab,) = fresh.get("/api/v1/endpoints?window=1h").json()["items"]
        first, second = lab["models"]
        assert (lab["name"], lab["api"], lab["reason"]) == ("lab", "openai_chat", "http://lab/v1")
        assert lab["state"] == "failing"  # The last request of all failed.
        assert (first["answered"], first["failed"], first["errors"]) == (1, 2, {"HTTP 429": 2})
        assert (first["input_tokens"], first["cached_tokens"], first["usd"]) == (1200, 200, 0.25)
        assert first["p50_seconds"] == pytest.approx(4.0, rel=0.1)
        assert (second["unpriced"], second["gave_up"], second["last_error"]) == (1, 1, "HTTP 500: out of order")

    def test_usage_outside_the_window_is_excluded(self, fresh: TestClient, installation: World) -> None:
        used(installation)
        with installation.work() as session:
            session.execute(text("UPDATE model_usage SET started_at = started_at - interval '2 days'"))
        assert fresh.get("/api/v1/endpoints").json()["items"] == []
        (lab,) = fresh.get("/api/v1/endpoints?window=7d").json()["items"]
        assert lab["state"] == "no longer set up"
        assert fresh.get("/api/v1/endpoints?window=2y").status_code == 422

    @pytest.mark.parametrize(
        ("offer", "state"),
        [
            ({"ok": False, "reason": "no key"}, "not set up"),
            ({"ok": True, "answers": False}, "not responding"),
            ({"ok": True, "answers": None}, "set up, not used"),
            ({"ok": True, "answers": True}, "answering"),
        ],
    )
    def test_state_of_an_unchecked_endpoint(
        self, fresh: TestClient, installation: World, offer: dict[str, object], state: str
    ) -> None:
        offered(installation, lab=offer)
        (lab,) = fresh.get("/api/v1/endpoints").json()["items"]
        assert lab["state"] == state

    def test_waiting_attempts_with_the_error_of_the_api(
        self, fresh: TestClient, installation: World, waiting: Claim
    ) -> None:
        offered(installation, lab={"ok": True, "api": "openai_chat", "answers": True})
        (lab,) = fresh.get("/api/v1/endpoints").json()["items"]
        assert lab["state"] == "failing"
        assert [(wait["model"], wait["words"], wait["episode_id"]) for wait in lab["waits"]] == [
            ("m-1", RATE_LIMIT, str(waiting.episode_id))
        ]
        (attempt,) = fresh.get(f"/api/v1/episodes/{waiting.episode_id}/attempts").json()["items"]
        assert (attempt["waiting"]["kind"], attempt["waiting"]["words"]) == ("model", RATE_LIMIT)
        assert attempt["silent_since"] is None


class TestPages:
    def test_endpoints_page_shows_states_and_errors(
        self, fresh: TestClient, installation: World, waiting: Claim
    ) -> None:
        offered(installation, lab={"ok": True, "api": "openai_chat", "answers": True, "reason": "http://lab/v1"})
        used(installation)
        page = fresh.get("/endpoints").text
        assert 'data-endpoint="lab" data-state="failing"' in page
        assert f"<q>{ESCAPED}</q>" in page
        assert "<q>HTTP 500: out of order</q>" in page
        assert f"/episodes/{waiting.episode_id}" in page
        assert "$0.250" in page
        assert fresh.get("/endpoints?window=nonsense").status_code == 200

    def test_empty_page_says_so(self, fresh: TestClient) -> None:
        assert 'data-empty="no-endpoints"' in fresh.get("/endpoints").text

    def test_tile_episode_and_run_show_the_model_wait(
        self, fresh: TestClient, installation: World, waiting: Claim
    ) -> None:
        for address in ("/", f"/runs/{waiting.run_id}", f"/episodes/{waiting.episode_id}"):
            page = fresh.get(address).text
            assert 'data-wait="model"' in page
            assert f"<q>{ESCAPED}</q>" in page
            assert 'data-relative-time-form="until"' in page
            assert "data-late" not in page

    def test_late_heartbeat_is_shown_and_a_lost_lease_ends_the_wait(
        self, fresh: TestClient, installation: World, waiting: Claim
    ) -> None:
        addresses = ("/", f"/runs/{waiting.run_id}", f"/episodes/{waiting.episode_id}")
        with installation.work() as session:
            session.execute(text("UPDATE lease SET heartbeat_at = now() - interval '6 seconds'"))
        assert all("data-late" in fresh.get(address).text for address in addresses)
        assert installation.do(lease_reaper.reap, lease_seconds=1.0) == [waiting.attempt_id]
        for address in addresses:
            page = fresh.get(address).text
            assert "data-wait" not in page
            assert "data-late" not in page
