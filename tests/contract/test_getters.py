"""Every registered getter: bytes in the worker, the value from the bytes alone, absence is evidence."""

from pathlib import Path
from typing import Any

import pytest

from backend.domain import registry
from backend.domain.errors import EvaluatorFailed, GuestLost, Invalid
from backend.domain.ports import ExecResult
from backend.domain.registry import Kind
from backend.domain.score import Blob
from tests.factories.starter_tasks import FakeContext
from tests.fakes.desktop import FakeDesktop

registry.load()
GOOD: dict[str, dict[str, Any]] = {
    "accessibility_tree": {},
    "cloud_file": {"path": "asset:a", "dest": "a"},
    "folder_contents": {"path": "/home/user"},
    "list_directory": {"path": "/home/user"},
    "rule": {"rules": {"expected": 1}},
    "vm_command_line": {"command": ["cat", "/home/user/a.txt"]},
    "vm_file": {"path": "/home/user/a.txt", "dest": "a.txt"},
}
GETTERS = sorted(GOOD)
NO_DESKTOP = {"rule", "cloud_file"}


def made(name: str) -> Any:
    plugin = registry.lookup(Kind.GETTER, name)
    return plugin() if isinstance(plugin, type) else plugin


def context() -> FakeContext:
    desktop = FakeDesktop()
    desktop.files["/home/user/a.txt"] = b"A"
    desktop.commands["python"] = lambda _: ExecResult(returncode=0, output='{"a.txt": {"mode": "0o644"}}')
    return FakeContext(desktop, assets={"a": b"A"})


@pytest.mark.parametrize("name", GETTERS)
class TestGetters:
    def test_collects_blobs_and_reads_them_alone(self, name: str, tmp_path: Path) -> None:
        blobs = made(name).collect(context(), GOOD[name])
        assert all(isinstance(blob, Blob) for blob in blobs)
        stored = [Blob.model_validate(blob.model_dump()) for blob in blobs]
        first = made(name).read(stored, GOOD[name], tmp_path / "1")
        assert str(first).replace("/1/", "/2/") == str(made(name).read(stored, GOOD[name], tmp_path / "2"))

    def test_unknown_parameters_are_refused(self, name: str) -> None:
        with pytest.raises(Invalid):
            made(name).check({**GOOD[name], "nonsense": 1})

    def test_an_absent_thing_is_a_blob_without_data(self, name: str, tmp_path: Path) -> None:
        place = FakeContext(FakeDesktop(), assets={"a": b"A"})
        place.desktop.commands.clear()  # type: ignore[attr-defined]
        blobs = made(name).collect(place, GOOD[name])
        for blob in blobs:
            assert blob.data is not None or blob.note
        if name in {"vm_file", "vm_command_line", "list_directory"}:
            assert made(name).read(blobs, GOOD[name], tmp_path) is None

    def test_a_dead_desktop_is_a_loss(self, name: str) -> None:
        place = context()
        place.desktop.die()  # type: ignore[attr-defined]
        if name in NO_DESKTOP:
            assert made(name).collect(place, GOOD[name]) is not None
        else:
            with pytest.raises(GuestLost):
                made(name).collect(place, GOOD[name])

    def test_blobs_that_cannot_be_its_own_are_refused(self, name: str, tmp_path: Path) -> None:
        if name == "rule":
            assert made(name).read([], GOOD[name], tmp_path) == GOOD[name]["rules"]
            return
        with pytest.raises(EvaluatorFailed):
            made(name).read([Blob(name="x"), Blob(name="y")], GOOD[name], tmp_path)
