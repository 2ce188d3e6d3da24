from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from backend.config import Settings
from backend.domain import registry
from backend.domain.errors import Cancelled, ModelApiFailed
from tests.error_codes import raises_code
from tests.factories.models import KEY, asked, cassette
from tests.fakes.model_server import ModelServer, model_server
from worker.base.lease import HeldLease, LeaseGrant
from worker.models.cassette import RecordingClient
from worker.models.model_pool import AttemptModels, ModelPool


@pytest.fixture(autouse=True, scope="module")
def _plugins() -> None:
    registry.load("worker.models")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as found:
        found.key = KEY
        yield found


def room(folder: Path, text: str = "", **environ: str) -> ModelPool:
    if text:
        (folder / "models.toml").write_text(text)
    return ModelPool.from_settings(Settings(data_dir=folder), environ)


MADE: list[AttemptModels] = []


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    while MADE:
        MADE.pop().close()


def attempt(of: ModelPool, hold: HeldLease | None = None) -> AttemptModels:
    claim: Any = None
    MADE.append(of.attempt(claim, hold or HeldLease(LeaseGrant(uuid4(), "local"), 3600)))
    return MADE[-1]


class TestOffers:
    def test_unusable_endpoints_have_a_reason_without_secrets(self, tmp_path: Path) -> None:
        offers = room(tmp_path, OPENAI_API_KEY=KEY).offers()
        assert offers["openai"] == {
            "api": "openai_chat",
            "ok": True,
            "answers": None,
            "reason": "https://api.openai.com/v1",
            "prices": [],
        }
        assert (offers["gemini"]["ok"], "GEMINI_API_KEY is not set" in offers["gemini"]["reason"]) == (False, True)
        assert KEY not in str(offers)

    def test_unreachable_configured_server_stays_configured(self, tmp_path: Path) -> None:
        text = '[endpoints.mine]\napi = "openai_chat"\nbase_url = "http://127.0.0.1:1/v1"\n'
        offer = room(tmp_path, text).offers()["mine"]
        assert (offer["ok"], offer["answers"]) == (True, False)
        assert offer["reason"].startswith("http://127.0.0.1:1/v1 does not respond: ")

    def test_reachable_configured_server_is_reported(self, tmp_path: Path, server: ModelServer) -> None:
        text = f'[endpoints.mine]\napi = "openai_chat"\nbase_url = "{server.address}/v1"\n'
        offer = room(tmp_path, text).offers()["mine"]
        assert (offer["answers"], offer["reason"]) == (True, f"{server.address}/v1")

    def test_unknown_api_gets_a_suggestion(self, tmp_path: Path) -> None:
        offers = room(tmp_path, '[endpoints.a]\napi = "openai_chatt"\n').offers()
        assert (offers["a"]["ok"], "Did you mean openai_chat" in offers["a"]["reason"]) == (False, True)

    def test_missing_cassette_is_reported(self, tmp_path: Path) -> None:
        offers = room(tmp_path, '[endpoints.a]\napi = "recorded"\ncassette = "/none.jsonl"\n').offers()
        assert (offers["a"]["ok"], "/none.jsonl is not a file" in offers["a"]["reason"]) == (False, True)

    def test_a_broken_file_is_an_endpoint_that_does_not_work(self, tmp_path: Path) -> None:
        offers = room(tmp_path, "not toml").offers()
        assert [(name, offer["ok"]) for name, offer in offers.items()] == [("models.toml", False)]

    def test_the_operator_s_prices_go_with_it(self, tmp_path: Path) -> None:
        text = '[[prices]]\nmodel = "m"\nsince = 2026-01-01\ninput = 1\noutput = 2\n'
        assert room(tmp_path, text).offers()["openai"]["prices"][0]["model"] == "m"


class TestClient:
    def test_uses_the_configured_base_url_and_prices(self, tmp_path: Path, server: ModelServer) -> None:
        server.say("Hello.")
        models = attempt(room(tmp_path, OPENAI_API_KEY=KEY, OPENAI_BASE_URL=f"{server.address}/v1"))
        reply = models.client("openai").complete(asked("Hi", model="gpt-4o-mini"))
        models.close()
        assert (reply.text, reply.usage.priced) == ("Hello.", True)
        assert reply.usage.usd == pytest.approx((100 * 0.15 + 10 * 0.6) / 1e6)

    def test_is_the_same_throughout_an_attempt(self, tmp_path: Path) -> None:
        models = attempt(room(tmp_path, OPENAI_API_KEY=KEY))
        assert models.client("openai") is models.client("openai")

    @pytest.mark.parametrize(
        ("name", "code", "mentions"),
        [("openai", "model_endpoint_not_usable", "OPENAI_API_KEY"), ("opneai", "unknown_endpoint", "opneai")],
    )
    def test_missing_key_or_endpoint_loses_the_attempt(
        self, tmp_path: Path, name: str, code: str, mentions: str
    ) -> None:
        with raises_code(ModelApiFailed, code, mentions=mentions) as raised:
            attempt(room(tmp_path)).client(name)
        assert "docs/models.md" in raised.value.hint

    def test_a_change_of_the_file_counts_for_the_next_attempt(self, tmp_path: Path) -> None:
        same = room(tmp_path)
        file = cassette(tmp_path, "One.")
        (tmp_path / "models.toml").write_text(f'[endpoints.new]\napi = "recorded"\ncassette = "{file}"\n')
        assert attempt(same).client("new").complete(asked("Hi")).text == "One."

    def test_each_attempt_replays_a_cassette_from_the_start(self, tmp_path: Path) -> None:
        file = cassette(tmp_path, "One.", "Two.")
        same = room(tmp_path, f'[endpoints.a]\napi = "recorded"\ncassette = "{file}"\n')
        told = [[attempt.client("a").complete(asked("Hi")).text for _ in range(2)] for attempt in two(same)]
        assert told == [["One.", "Two."]] * 2

    def test_records_to_the_configured_cassette(self, tmp_path: Path) -> None:
        file = cassette(tmp_path, "One.")
        made = tmp_path / "made.jsonl"
        same = room(tmp_path, f'[endpoints.a]\napi = "recorded"\ncassette = "{file}"\nrecord = "{made}"\n')
        client = attempt(same).client("a")
        assert isinstance(client, RecordingClient)
        client.complete(asked("Hi"))
        assert made.read_text().count("One.") == 1

    def test_attempts_share_the_limits_of_an_endpoint(self, tmp_path: Path) -> None:
        same = room(tmp_path, OPENAI_API_KEY=KEY)
        endpoint = same.find("openai")
        assert same.gate(endpoint) is same.gate(same.find("openai"))


class TestWaiting:
    def test_a_cancelled_run_ends_it(self, tmp_path: Path, server: ModelServer) -> None:
        hold = HeldLease(LeaseGrant(uuid4(), "local"), 3600)
        server.fail_for(3600, retry_after="3000")
        models = attempt(room(tmp_path, OPENAI_API_KEY=KEY, OPENAI_BASE_URL=f"{server.address}/v1"), hold)
        hold.stop(Cancelled("the run was cancelled"))
        with pytest.raises(Cancelled):
            models.client("openai").complete(asked("Hi"))
        assert models.wait_seconds() > 0
        models.close()

    def test_the_end_of_the_agent_ends_it(self, tmp_path: Path, server: ModelServer) -> None:
        server.fail_for(3600)
        models = attempt(room(tmp_path, OPENAI_API_KEY=KEY, OPENAI_BASE_URL=f"{server.address}/v1"))
        client = models.client("openai")
        models.close()
        with raises_code(ModelApiFailed, "model_request_abandoned"):
            client.complete(asked("Hi"))


def two(of: ModelPool) -> list[AttemptModels]:
    return [attempt(of), attempt(of)]
