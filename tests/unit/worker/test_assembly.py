from pathlib import Path

import pytest

from backend.config import Settings
from backend.domain import registry
from backend.domain.errors import EvaluatorFailed
from backend.domain.ports import Availability
from tests.fakes.judge import InProcessJudge
from tests.fakes.provider import FakeProvider
from worker.assembly import describe
from worker.evaluation.judge import Judge


@pytest.fixture(autouse=True, scope="module")
def _plugins() -> None:
    registry.load()


class Refusing(FakeProvider):
    """A provider that cannot work here."""

    def availability(self) -> Availability:
        return Availability(ok=False, reason="Xvfb is missing")


class TestDescribe:
    def test_offers_providers_agents_and_spaces(self, tmp_path: Path) -> None:
        info = describe(Settings(data=tmp_path, slots=3), {"fake": FakeProvider()}, InProcessJudge())
        can = info.capabilities
        assert info.slots == {"fake": 3}
        assert can["providers"]["fake"] == {"ok": True, "reason": "", "programs": ["mousepad"], "os": ["linux"]}
        assert {"noop", "oracle", "random"} <= set(can["agents"])
        assert can["agents"]["oracle"]["privileged"] is True
        assert "stop_chance" in can["agents"]["random"]["schema"]["properties"]
        assert {"screenshot", "a11y_tree", "screenshot_a11y"} <= set(can["observations"])

    def test_a_provider_that_cannot_work_says_why_and_has_no_slots(self, tmp_path: Path) -> None:
        info = describe(Settings(data=tmp_path), {"fake": Refusing()}, InProcessJudge())
        assert info.slots == {}
        assert info.capabilities["providers"]["fake"]["reason"] == "Xvfb is missing"

    def test_says_how_evaluators_are_fenced_in(self, tmp_path: Path) -> None:
        info = describe(Settings(data=tmp_path), {}, InProcessJudge())
        assert info.capabilities["evaluators"] == {"sandbox": "limits"}

    def test_or_that_they_cannot_run(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def nowhere(_: Judge) -> None:
            raise EvaluatorFailed("no evaluator can be started")

        monkeypatch.setattr(Judge, "sandbox", property(nowhere))
        info = describe(Settings(data=tmp_path), {}, Judge())
        assert info.capabilities["evaluators"]["reason"] == "no evaluator can be started"
