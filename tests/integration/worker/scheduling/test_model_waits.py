"""From a model's API that does not answer to the words on a page, by the worker's own parts."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.config import Settings
from backend.domain import registry
from backend.domain.errors import Cancelled
from backend.services.attempts import attempts
from backend.services.lifecycle import lease_reaper
from backend.services.runs.views.run_rows import tiles
from backend.services.runs.views.waiting import AttemptWait
from tests.factories.models import asked
from tests.factories.records import World
from tests.fakes.model_server import ModelServer, model_server
from tests.waiting import until
from worker.base.database import Database
from worker.base.lease import HeldLease, HeldLeases, LeaseGrant
from worker.models import model_pool
from worker.models.model_pool import ModelPool
from worker.scheduling.heartbeat import Heartbeat

ENDPOINT = '[endpoints.lab]\napi = "openai_chat"\nbase_url = "{address}/v1"\n'


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as started:
        yield started


def shown(world: World) -> AttemptWait | None:
    """Words of the only tile."""
    (tile,) = world.do(tiles)
    wait: AttemptWait | None = tile.wait
    return wait


@pytest.mark.parametrize("fault", ["429", "500", "slow"])
def test_page_shows_the_wait_until_the_attempt_ends(
    world: World, server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setattr(model_pool, "LONG_SECONDS", 0.1)
    registry.load("worker.models")
    (tmp_path / "models.toml").write_text(ENDPOINT.format(address=server.address))
    if fault == "slow":
        server.hang()
    else:
        server.fail_for(60, int(fault), retry_after="50")
    world.benchmark()
    worker = world.worker()
    world.submit()
    claim = world.must_claim(worker)
    world.do(attempts.enter_running, claim.fence, {}, 0.0)
    hold = HeldLease(LeaseGrant(claim.lease_id, "local"), 60.0)
    hold.begins(claim.fence)
    holds = HeldLeases()
    holds.add(hold)
    heart = Heartbeat(Database(world.factory), holds, 0.05)
    models = ModelPool.from_settings(Settings(data_dir=tmp_path), {}).attempt(claim, hold)

    def ask() -> None:
        with pytest.raises(Cancelled):
            models.client("lab").complete(asked("Hi", model="m-1"))

    thread = threading.Thread(target=ask)
    thread.start()
    heart.start(worker.id)
    try:
        until(lambda: (wait := shown(world)) is not None and (fault == "slow" or bool(wait.words)))
        wait = shown(world)
        assert wait is not None
        assert (wait.kind, wait.endpoint, wait.text) == ("model", "lab", "waiting for the model API (lab, m-1)")
        assert wait.since is not None
        assert wait.words.startswith({"429": "HTTP 429: slow down", "500": "HTTP 500: slow down", "slow": ""}[fault])
        if fault != "slow":
            assert wait.retry_at is not None
            assert 40 < (wait.retry_at - wait.since).total_seconds() < 60
    finally:
        hold.stop(Cancelled("the worker is killed"))
        thread.join(60)
        heart.stop()
        models.close()
    assert world.do(lease_reaper.reap, lease_seconds=-1.0) == [claim.attempt_id]
    assert world.do(tiles) == []
