"""Preparing an image: what a person who waits for it is shown."""

import io
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from backend.config import Settings
from backend.domain.errors import GuestLost
from backend.domain.machines.slots import SlotRef
from backend.domain.ports.desktop import DesktopSpec
from tests.factories.own_machines import machines, own_folder
from tests.factories.tiny_machine import NAME, SCREEN, tiny_image
from tests.fakes.attempt_log import MemoryBook
from tests.unit.worker.attempt.test_desktop_progress import ATTEMPT, Watching
from worker.activity import ProgressLines
from worker.attempt import desktop_progress
from worker.attempt.desktop_progress import DesktopProgressWatch
from worker.commands.prepare_image import prepare
from worker.perception import ocr
from worker.providers import vm_factory
from worker.providers.qemu import QemuProvider
from worker.providers.vm_factory import PHASES

pytestmark = [pytest.mark.desktop, pytest.mark.sampled(1)]
SPEC = DesktopSpec(screen=SCREEN, image=NAME)
NO_SYSTEM = "rdinit=/nothing init=/nothing panic=0 console=tty0"
"""The kernel has nothing to start, says so on the screen, and stays there."""


class TestMain:
    def test_logs_each_phase_and_prints_one_object(self, data: Path, tmp_path: Path) -> None:
        (tmp_path / "images").symlink_to(data / "images")
        words = [
            sys.executable,
            "-m",
            "worker.commands.prepare_image",
            NAME,
            "--screen",
            f"{SCREEN.width}x{SCREEN.height}",
        ]
        environment = {**os.environ, "DESKARENA_DATA_DIR": str(tmp_path)}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True, timeout=300)
        told = json.loads(done.stdout)
        assert {name: told[name] for name in ("image", "screen", "provider")} == {
            "image": NAME,
            "screen": "640x480",
            "provider": "qemu",
        }
        lines = done.stderr.splitlines()
        for phase in ("start", "boot", "rest", "health", "freeze"):
            assert any(line.startswith(f"{PHASES[phase]}: done after") for line in lines), phase
        assert any(line.startswith(f"{PHASES['boot']} (at most {vm_factory.BOOT_SECONDS:.0f} s") for line in lines)


class TestPrepare:
    def test_unresponsive_machine_reports_phase_seconds_and_screen(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tiny_image(tmp_path / "images", command_line=NO_SYSTEM)
        out, picture, before = io.StringIO(), tmp_path / "cache" / "prepare-tiny.png", len(machines())
        # A busy host reaches the kernel's panic late: it gets as long as it needs.
        for seconds in (15.0, 60.0, 240.0):
            monkeypatch.setattr(vm_factory, "BOOT_SECONDS", seconds)
            with own_folder():
                provider = QemuProvider(Settings(data_dir=tmp_path))
                with pytest.raises(GuestLost) as raised:
                    prepare([provider], SPEC, partial(ProgressLines, out=out, picture=picture, every=1.0))
                tracker = provider.tracker(None)
                provider.close()
            waited = raised.value.waited
            assert waited["seconds"] >= seconds
            if waited["screen"] == "still" and (waited["text"] or ocr.tesseract() is None):
                break
        assert (waited["phase"], waited["screen"]) == ("boot", "still")
        assert ocr.tesseract() is None or "panic" in waited["text"]
        assert picture.read_bytes()[:4] == b"\x89PNG"
        assert [each.phase for each in tracker.after(0)] == ["lock", "check", "start", "boot"]
        assert [each.phase for each in tracker.after(0) if each.failed] == ["boot"]
        assert len(machines()) == before
        assert "; the screen has " in out.getvalue()


class TestOpening:
    def test_an_attempt_that_waits_for_a_template_tells_of_it_and_shows_its_screen(
        self, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # With KVM it boots in less than is worth telling.
        monkeypatch.setattr(desktop_progress, "LEAST_SECONDS", 0.0)
        monkeypatch.setattr(desktop_progress, "LOOK_SECONDS", 0.05)
        (tmp_path / "images").symlink_to(data / "images")
        book, watching = MemoryBook(), Watching(viewers=1)
        provider = QemuProvider(Settings(data_dir=tmp_path))
        with DesktopProgressWatch(ATTEMPT, book, partial(provider.tracker, SlotRef(0)), watching):
            made = provider.open(SlotRef(0), SPEC)
        made.close()
        provider.close()
        assert "boot" in {facts["phase"] for facts in book.openings}
        assert {facts["subject"] for facts in book.openings} == {f"the template of {NAME}"}
        assert watching.frames
        assert all(number < 1 and jpeg[:2] == b"\xff\xd8" for number, jpeg, _ in watching.frames)
