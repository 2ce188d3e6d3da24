import dataclasses
import json
from pathlib import Path

import pytest

from tests.factories.vm_hosts import ACCELERATED, EMULATED
from worker.qemu import acceleration_cache
from worker.qemu.acceleration import Acceleration
from worker.qemu.acceleration_cache import locked_cache
from worker.qemu.accelerator import accepted_options
from worker.qemu.probe import UNFINISHED


class TestAccepted:
    def test_all_are_tried_together_first(self) -> None:
        tried = list[tuple[str, ...]]()

        def works(options: tuple[str, ...]) -> bool:
            tried.append(options)
            return True

        assert accepted_options(("a", "b"), works) == ("a", "b")
        assert tried == [("a", "b")]

    @pytest.mark.parametrize(
        ("refused", "rest"),
        [({"a"}, ("b", "c")), ({"c"}, ("a", "b")), ({"a", "c"}, ("b",)), ({"a", "b", "c"}, ())],
    )
    def test_refused_options_are_dropped_one_by_one(self, refused: set[str], rest: tuple[str, ...]) -> None:
        assert accepted_options(("a", "b", "c"), refused.isdisjoint) == rest

    def test_first_of_two_exclusive_options_wins(self) -> None:
        assert accepted_options(("a", "b", "c"), lambda options: not {"a", "b"} <= set(options)) == ("a", "c")


class TestLockedCache:
    @pytest.fixture
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setattr(acceleration_cache, "private_folder", lambda _: tmp_path)
        monkeypatch.setattr(acceleration_cache, "MODULES", tmp_path / "modules")
        return tmp_path

    @pytest.mark.parametrize("choice", [ACCELERATED, EMULATED])
    def test_stored_measurements_are_reused(self, folder: Path, choice: Acceleration) -> None:
        with locked_cache("auto") as cache:
            assert cache.read() is None
            cache.write(choice)
        with locked_cache("auto") as cache:
            assert cache.read() == choice
        with locked_cache("kvm") as cache:
            assert cache.read() is None

    def test_nodes_that_share_a_folder_read_only_their_own(
        self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shared = tmp_path / "shared"
        with locked_cache("auto", shared) as cache:
            cache.write(ACCELERATED)
        monkeypatch.setattr(acceleration_cache, "PROGRAM", "another-qemu")
        (tmp_path / "modules" / "kvm").mkdir(parents=True)
        with locked_cache("auto", shared) as cache:
            assert cache.read() is None
            cache.write(EMULATED)
        monkeypatch.undo()
        monkeypatch.setattr(acceleration_cache, "MODULES", tmp_path / "none")
        with locked_cache("auto", shared) as cache:
            assert cache.read() == ACCELERATED

    def test_other_kvm_module_invalidates_the_cache(self, folder: Path) -> None:
        with locked_cache("auto") as cache:
            cache.write(ACCELERATED)
        (folder / "modules" / "kvm_pvm").mkdir(parents=True)
        with locked_cache("auto") as cache:
            assert cache.read() is None

    @pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"key": 1, "acceleration": {}}'])
    def test_a_damaged_one_is_not_an_answer(self, folder: Path, content: str) -> None:
        with locked_cache("auto") as cache:
            cache.write(ACCELERATED)
        (file,) = folder.glob("*.json")
        file.write_text(content)
        with locked_cache("auto") as cache:
            assert cache.read() is None

    def test_unwritable_cache_measures_each_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(_: str) -> Path:
            raise PermissionError

        monkeypatch.setattr(acceleration_cache, "private_folder", refuse)
        with locked_cache("auto") as cache:
            cache.write(ACCELERATED)
            assert cache.read() is None


class TestAcceleration:
    def test_goes_over_the_wire(self) -> None:
        assert Acceleration.from_json(json.loads(json.dumps(ACCELERATED.to_json()))) == ACCELERATED

    def test_figures_mark_a_stopped_guest(self) -> None:
        seconds = {"tcg": {"compute": 0.5}, "kvm": {"compute": 4.0, UNFINISHED: 6.0}}
        choice = dataclasses.replace(EMULATED, seconds=seconds)
        assert choice.figures == " [trial guest: 0.5 s emulated, stopped after 10.0 s with KVM]"
