from collections.abc import Mapping
from pathlib import Path

import pytest

from backend.config import Settings
from backend.domain import registry
from backend.domain.errors import EvaluatorFailed
from backend.domain.machines.image_offers import ImageOffer
from backend.domain.machines.slots import DesktopNeeds, FreeResources
from backend.domain.ports.cluster import SlotTrouble
from backend.domain.ports.desktop import Availability
from tests.fakes.evaluator import InProcessJudge
from tests.fakes.provider import FakeProvider
from worker.bootstrap.assembly import SlotCounter, describe
from worker.evaluation.evaluator import Evaluator
from worker.evaluation.sandbox import Sandbox


@pytest.fixture(autouse=True, scope="module")
def _plugins() -> None:
    registry.load()


class RefusingProvider(FakeProvider):
    """A provider that cannot work here."""

    def availability(self) -> Availability:
        return Availability(ok=False, reason="Xvfb is missing")


class Imaged(FakeProvider):
    """A provider with two images."""

    def availability(self) -> Availability:
        return Availability(ok=True, images=(ImageOffer(name="debian"), ImageOffer(name="eleven", os="windows")))


class Clustered(FakeProvider):
    """A provider whose desktops are another machine's."""

    cluster = "north"
    desktops = 20

    def away(self) -> str:
        return ""

    def troubles(self) -> Mapping[str, SlotTrouble] | None:
        return {}


class TestSlotCounter:
    def test_slots_are_counted_once_while_there_is_room(self, tmp_path: Path) -> None:
        rooms = [FreeResources(2**20, 4, 2**40), FreeResources(2**36, 4, 2**40), FreeResources(2**36, 1, 2**40)]
        counter = SlotCounter(Settings(data_dir=tmp_path), lambda _: rooms.pop(0))
        assert [counter("local", DesktopNeeds()).number for _ in range(3)] == [0, 4, 4]


class TestDescribe:
    def test_lists_providers_agents_and_action_spaces(self, tmp_path: Path) -> None:
        info = describe(Settings(data_dir=tmp_path, slots=3), {"fake": FakeProvider()}, InProcessJudge())
        can = info.capabilities
        assert info.slots == {"fake": 3}
        fake = can["providers"]["fake"]
        assert fake.pop("slots")["number"] == 3
        assert fake == {"ok": True, "reason": "", "programs": ["mousepad"], "os": ["linux"], "images": []}
        assert {"noop", "oracle", "random"} <= set(can["agents"])
        assert can["agents"]["oracle"]["privileged"] is True
        assert "stop_chance" in can["agents"]["random"]["schema"]["properties"]
        assert {"screenshot", "a11y_tree", "screenshot_a11y"} <= set(can["observations"])

    def test_unusable_provider_has_a_reason_and_no_slots(self, tmp_path: Path) -> None:
        info = describe(Settings(data_dir=tmp_path), {"fake": RefusingProvider()}, InProcessJudge())
        assert info.slots == {}
        assert info.capabilities["providers"]["fake"]["reason"] == "Xvfb is missing"

    def test_slots_are_computed_unless_configured(self, tmp_path: Path) -> None:
        settings = Settings(data_dir=tmp_path)
        counter = SlotCounter(settings, lambda _: FreeResources(memory=64 * 2**30, cores=5, disk=2**40))
        info = describe(settings, {"fake": FakeProvider()}, InProcessJudge(), counter)
        assert info.slots == {"fake": 5}
        assert info.capabilities["providers"]["fake"]["slots"]["reason"].startswith("limited by cores: ")

    def test_provider_without_room_for_one_desktop_is_not_runnable(self, tmp_path: Path) -> None:
        settings = Settings(data_dir=tmp_path)
        counter = SlotCounter(settings, lambda _: FreeResources(memory=2**20, cores=5, disk=2**40))
        fake = describe(settings, {"fake": FakeProvider()}, InProcessJudge(), counter).capabilities["providers"]["fake"]
        assert (fake["ok"], fake["slots"]["number"]) == (False, 0)
        assert fake["reason"].startswith("no slots: ")

    def test_operating_systems_come_from_the_images(self, tmp_path: Path) -> None:
        info = describe(Settings(data_dir=tmp_path), {"fake": Imaged()}, InProcessJudge())
        fake = info.capabilities["providers"]["fake"]
        assert fake["os"] == ["linux", "windows"]
        assert [image["name"] for image in fake["images"]] == ["debian", "eleven"]

    def test_reports_the_evaluator_sandbox(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("worker.evaluation.evaluator.most_memory", lambda: 6 * 2**30)
        info = describe(Settings(data_dir=tmp_path), {}, InProcessJudge())
        assert info.capabilities["evaluators"] == {"sandbox": "limits", "at_once": 1}

    def test_evaluator_limit_leaves_memory_for_local_desktops(self, tmp_path: Path) -> None:
        settings, judge = Settings(data_dir=tmp_path), Evaluator(sandbox=Sandbox.LIMITS, memory=31 * 2**30)
        assert judge.turns.number == 6
        counter = SlotCounter(settings, lambda _: FreeResources(memory=64 * 2**30, cores=11, disk=2**40))
        info = describe(settings, {"fake": FakeProvider()}, judge, counter)
        assert info.slots == {"fake": 11}
        assert info.capabilities["evaluators"]["at_once"] == 3

    def test_cluster_slots_are_not_the_workers(self, tmp_path: Path) -> None:
        info = describe(Settings(data_dir=tmp_path), {"away": Clustered()}, InProcessJudge())
        told = info.capabilities["providers"]["away"]
        assert told["slots"] == {"number": 20, "reason": "the slots are those of the cluster north"}

    def test_cluster_desktops_use_no_local_memory(self, tmp_path: Path) -> None:
        judge = Evaluator(sandbox=Sandbox.LIMITS, memory=31 * 2**30)
        info = describe(Settings(data_dir=tmp_path), {"fake": Clustered()}, judge)
        assert info.slots == {"fake": 20}
        assert info.capabilities["evaluators"]["at_once"] == 6

    def test_evaluators_that_cannot_run_have_a_reason(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def nowhere(_: Evaluator) -> None:
            raise EvaluatorFailed("no evaluator can be started")

        monkeypatch.setattr(Evaluator, "sandbox", property(nowhere))
        info = describe(Settings(data_dir=tmp_path), {}, Evaluator())
        assert info.capabilities["evaluators"]["reason"] == "no evaluator can be started"
