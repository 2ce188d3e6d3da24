"""Layers that a build reuses or rebuilds. Whole builds: tests/integration/images."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.factories.vm_hosts import EMULATING_HOST
from worker.images.windows import build
from worker.images.windows.build import Builder
from worker.images.windows.catalog import Catalog
from worker.images.windows.editions import Edition
from worker.images.windows.inputs import BuildInputs
from worker.images.windows.machine import Disks
from worker.images.windows.options import WindowsBuildOptions
from worker.images.windows.plan import BuildPlan, BuildRequest

EDITION = Edition(index=1, name="Windows", id="Core", installation="Client", build=26100, languages=("en-US",))


class CutOffError(Exception):
    """In the place of a power cut."""


@pytest.fixture
def builder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Builder:
    """A build that has Windows and the medium for programs; there are no programs to bring."""
    request = BuildRequest("w", tmp_path / "w.iso", tmp_path / "v.iso", WindowsBuildOptions(edition="Core"), tmp_path)
    for medium in (request.iso, request.virtio):
        medium.touch()
    made = Builder(request, BuildPlan(EDITION, Catalog(programs=(), inbox=()), b""), lambda _: None)
    (request.folder / "second.done").write_text(json.dumps({"key": "k" * 64}))
    (request.folder / "windows.vars").write_text("the firmware's")
    monkeypatch.setattr(BuildInputs, "installers", lambda _: ())
    return made


def machine(monkeypatch: pytest.MonkeyPatch, *runs: str) -> list[bool]:
    """Replaces the machine: scripted end of each start. Returns for each whether it had a base layer."""
    went_on: list[bool] = []

    class ScriptedMachine:
        def until_off(self, _phase: str, *, ending: Callable[[], None], **_more: object) -> None:
            how = runs[len(went_on) - 1]
            if how != "cut off":
                ending()
            if how != "well":
                raise CutOffError

    @contextmanager
    def started(_spec: object, disks: Disks, *_more: object) -> Iterator[ScriptedMachine]:
        went_on.append(disks.overlay.exists())
        disks.overlay.touch()
        yield ScriptedMachine()

    monkeypatch.setattr(build, "build_machine", started)
    monkeypatch.setattr(build, "this_host", lambda _: EMULATING_HOST)
    return went_on


def run(builder: Builder, name: str) -> None:
    """One stage of the build."""
    next(stage for stage in builder.stages() if stage.name == name).work()


class TestInstall:
    def test_installation_resumes_inside_windows(self, builder: Builder, monkeypatch: pytest.MonkeyPatch) -> None:
        went_on = machine(monkeypatch, "cut off", "well")
        with pytest.raises(CutOffError):
            run(builder, "programs")
        run(builder, "programs")
        assert went_on == [False, True]

    def test_a_layer_that_was_going_down_is_restarted(self, builder: Builder, monkeypatch: pytest.MonkeyPatch) -> None:
        """Its Windows has no scheduled task left, so it would never report anything."""
        went_on = machine(monkeypatch, "cut off while ending", "cut off", "well")
        for _ in range(2):
            with pytest.raises(CutOffError):
                run(builder, "programs")
        run(builder, "programs")
        assert went_on == [False, False, True]
        assert {path.suffix for path in builder.request.folder.glob("layer-*")} == {".vars"}


class TestSetWindowsUp:
    def test_layers_above_another_windows_go(self, builder: Builder, monkeypatch: pytest.MonkeyPatch) -> None:
        machine(monkeypatch, "cut off", "well")
        with pytest.raises(CutOffError):
            run(builder, "programs")
        run(builder, "windows")
        assert list(builder.request.folder.glob("layer-*")) == []
