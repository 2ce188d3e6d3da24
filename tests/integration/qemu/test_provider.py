"""The provider with real machines: what a clone is, how it ends, what is left of it."""

import gc
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from backend.config import Settings
from backend.domain.errors import ClusterLost, GuestLost, GuestRefused, NotFound
from backend.domain.machines.egress_rules import EgressRules
from backend.domain.machines.slots import SlotRef
from backend.domain.model.run import ScreenSize
from backend.domain.ports.cluster import RevocableDesktop
from backend.domain.ports.desktop import Desktop, DesktopSpec, OpenDesktop
from tests.error_codes import raises_code, raises_fields
from tests.factories.own_machines import OwnMachineResources, held, machine_of, machines, own_memory
from tests.factories.tiny_machine import tiny_image
from tests.factories.vm_hosts import ACCELERATED
from tests.integration.qemu.conftest import SPEC, Tiny
from tests.processes import has_ended
from tests.waiting import until
from worker.desktops.wire import GuestConnection
from worker.providers import qemu
from worker.providers.qemu import QemuProvider
from worker.qemu.plan import this_host

pytestmark = pytest.mark.desktop
RESET_BYTES = 100_000
"""That one reset may leave in our memory by chance. A machine that was left behind has hundreds of times as much."""


def no_file(sha256: str) -> bytes:
    raise NotFound(sha256)


def run(opened: OpenDesktop, command: str) -> str:
    return str(opened.desktop.call("POST", "/run", {"command": command})["output"])


def is_right(desktop: Desktop) -> bool:
    """Whether the machine's clock is ours, but for three seconds and the time that its answer took."""
    before = time.time()
    return before - 3 < desktop.health().clock < time.time() + 3


@pytest.mark.sampled(3)
class TestOpen:
    def test_clone_continues_from_its_template(self, opened: OpenDesktop) -> None:
        assert opened.details["path"] == "clone"
        assert set(opened.details["seconds"]) == {"qemu", "state", "restored", "made"}
        assert "why_cold" not in opened.details
        assert opened.alive()
        assert opened.desktop.frame().width == SPEC.screen.width

    def test_says_when_it_is_emulated(self, opened: OpenDesktop) -> None:
        emulated = opened.details["accelerator"] == "tcg"
        assert ("warning" in opened.details) == emulated

    def test_clone_has_the_current_time(self, opened: OpenDesktop) -> None:
        assert is_right(opened.desktop)

    def test_the_template_s_secret_opens_no_clone(self, tiny: Tiny, opened: OpenDesktop) -> None:
        wire = GuestConnection(opened.stream_address()[0], tiny.provider.template(SPEC).secret)
        with pytest.raises(GuestLost):
            wire.ask("GET", "/probe", seconds=5)
        wire.close()

    def test_reset_discards_memory_and_disk(self, tiny: Tiny) -> None:
        first = tiny.provider.open(SlotRef(0), SPEC)
        run(first, "echo left >/tmp/left; echo overwritten | dd of=/dev/vda bs=512 seek=8; sync; date -s @1000000000")
        assert "overwritten" in run(first, "dd if=/dev/vda bs=512 skip=8 count=1 | tr -d '\\\\0'")
        first.close()
        second = tiny.provider.open(SlotRef(0), SPEC)
        assert "left" not in run(second, "ls /tmp")
        assert "overwritten" not in run(second, "dd if=/dev/vda bs=512 skip=8 count=1 | tr -d '\\\\0'")
        assert is_right(second.desktop)
        second.close()

    def test_two_slots_are_two_machines(self, tiny: Tiny, opened: OpenDesktop) -> None:
        other = tiny.provider.open(SlotRef(1), SPEC)
        run(opened, "echo mine >/tmp/mine")
        assert "mine" not in run(other, "ls /tmp")
        other.close()

    def test_a_screen_that_the_image_cannot_show_is_refused(self, tiny: Tiny) -> None:
        with raises_code(ClusterLost, "screen_not_available", mentions="800x600"):
            tiny.provider.open(SlotRef(0), DesktopSpec(screen=ScreenSize(width=800, height=600)))

    def test_an_image_that_is_not_there_is_refused(self, tiny: Tiny) -> None:
        with raises_code(ClusterLost, "image_not_available", mentions="'other'"):
            tiny.provider.open(SlotRef(0), DesktopSpec(screen=SPEC.screen, image="other"))

    def test_an_image_that_was_altered_makes_no_machine(self, tmp_path: Path) -> None:
        disk = tiny_image(tmp_path / "images") / "disk.qcow2"
        disk.chmod(0o600)
        with disk.open("r+b") as file:
            file.seek(-1, os.SEEK_END)
            file.write(b"x")
        provider = QemuProvider(Settings(data_dir=tmp_path))
        with raises_code(ClusterLost, "image_changed", mentions="disk.qcow2"):
            provider.open(SlotRef(0), SPEC)
        provider.close()

    def test_the_guest_reaches_nothing_by_its_card(self, opened: OpenDesktop) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            said = run(opened, f"timeout 5 nc 10.0.2.2 {port}; timeout 5 nc -w 2 10.0.2.3 53 && echo open")
            server.setblocking(False)
            with pytest.raises(BlockingIOError):
                server.accept()
        assert "open" not in said


@pytest.mark.sampled(1)
class TestPicture:
    def test_is_the_machine_s_own(self, opened: OpenDesktop) -> None:
        picture = opened.picture()
        assert picture is not None
        assert picture.media_type == "image/jpeg"
        assert picture.width >= 320

    def test_hanging_guest_has_a_picture(self, opened: OpenDesktop) -> None:
        run(opened, "echo hang >/lie")
        assert opened.picture() is not None

    def test_picture_of_a_frozen_machine_times_out(self, opened: OpenDesktop) -> None:
        begun = time.monotonic()
        machine_of(opened).suspend()
        assert opened.picture() is None
        assert time.monotonic() - begun < 60


@pytest.mark.sampled(1)
class TestWhyDead:
    def test_a_killed_machine_is_known_to_be_dead(self, opened: OpenDesktop) -> None:
        machine_of(opened).kill()
        until(lambda: not opened.alive())
        assert "QEMU exited with -9" in opened.death_reason()
        with pytest.raises(GuestLost):
            opened.desktop.frame()

    def test_guest_shutdown_is_reported(self, opened: OpenDesktop) -> None:
        with pytest.raises(GuestLost):
            run(opened, "poweroff -f")
        until(lambda: not opened.alive(), 20)
        assert opened.death_reason() == "the guest shut its machine down"

    def test_a_guest_that_crashes_says_so_and_keeps_its_last_picture(self, opened: OpenDesktop) -> None:
        begun = time.monotonic()
        with pytest.raises(GuestLost):
            run(opened, "echo c >/proc/sysrq-trigger")
        assert time.monotonic() - begun < 90
        assert opened.death_reason() == "the guest's system crashed"
        assert opened.picture() is not None

    def test_a_guest_that_restarts_is_lost_at_once(self, opened: OpenDesktop) -> None:
        begun = time.monotonic()
        with pytest.raises(GuestLost):
            run(opened, "reboot -f")
        assert time.monotonic() - begun < 90
        assert opened.death_reason() == "the guest restarted its machine"

    @pytest.mark.long
    def test_a_frozen_machine_is_lost_at_the_deadline(self, opened: OpenDesktop) -> None:
        machine_of(opened).suspend()
        begun = time.monotonic()
        with raises_code(GuestLost, "desktop_unreachable", mentions=("/frame", "15 s")):
            opened.desktop.frame()
        assert time.monotonic() - begun < 60


class TestLies:
    @pytest.mark.parametrize(
        "lie", ["size", pytest.param("hang", marks=pytest.mark.long), pytest.param("endless", marks=pytest.mark.long)]
    )
    def test_a_guest_that_lies_is_lost_at_the_deadline(self, opened: OpenDesktop, lie: str) -> None:
        run(opened, f"echo {lie} >/lie")
        begun = time.monotonic()
        with raises_code(GuestLost, "desktop_unreachable"):
            opened.desktop.frame()
        assert time.monotonic() - begun < 60

    def test_a_huge_reply_is_refused_by_its_size(self, opened: OpenDesktop) -> None:
        run(opened, "echo huge >/lie")
        with raises_fields(GuestRefused, kind="too_large") as raised:
            opened.desktop.frame()
        assert raised.value.kind == "too_large"


@pytest.fixture
def little(data: Path, tiny: Tiny, tmp_path: Path) -> Iterator[QemuProvider]:
    """A provider whose machines may write two megabytes together."""
    assert tiny.provider.template(SPEC)
    overlays = tmp_path / "machines"
    overlays.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(overlays)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"needs the right to mount: {mounted.stderr.strip()}")
    for name in ("images", "templates"):
        (tmp_path / name).symlink_to(data / name)
    provider = QemuProvider(Settings(data_dir=tmp_path))
    yield provider
    provider.close()
    # Not lazily: whatever still has a file open there fails the test.
    subprocess.run(["umount", str(overlays)], check=True)


@pytest.mark.sampled(1)
class TestFull:
    def test_a_host_without_room_ends_the_attempt_and_says_so(self, little: QemuProvider) -> None:
        made = little.open(SlotRef(0), SPEC)
        begun = time.monotonic()
        with pytest.raises(GuestLost):
            run(made, "dd if=/dev/urandom of=/dev/vda bs=1M count=16; sync; sleep 100")
        assert made.death_reason() == "the machine was stopped: the host has no disk space for its writes"
        assert time.monotonic() - begun < 90
        made.close()
        again = little.open(SlotRef(0), SPEC)
        assert again.desktop.frame().data
        again.close()

    def test_full_guest_disk_does_not_affect_others(self, tiny: Tiny) -> None:
        made = tiny.provider.open(SlotRef(0), SPEC)
        run(made, "dd if=/dev/zero bs=1M | tr '\\\\0' x >/dev/vda")
        assert made.desktop.frame().data
        made.close()
        assert tiny.left() == []
        again = tiny.provider.open(SlotRef(0), SPEC)
        assert "x" not in run(again, "dd if=/dev/vda bs=512 skip=99 count=1 | tr -d '\\\\0' | head -c 4")
        again.close()


class TestReset:
    @pytest.mark.long
    def test_twenty_in_a_row_leave_nothing(self, tiny: Tiny) -> None:
        def resets(times: int) -> tuple[OwnMachineResources, int]:
            for _ in range(times):
                made = tiny.provider.open(SlotRef(0), SPEC)
                made.let_out(EgressRules(), no_file)
                made.desktop.frame()
                made.close()
            gc.collect()
            return held(tiny.data), own_memory()

        before, memory = resets(3)  # What is made once is there.
        after, more = resets(20)
        assert after == before
        assert (after.folders, after.overlays) == ((), ())
        assert more - memory < RESET_BYTES * 20


@pytest.mark.sampled(1)
class TestPrepare:
    def test_the_next_machine_waits_ready(self, tiny: Tiny) -> None:
        tiny.provider.prepare(SlotRef(0), SPEC)
        made = tiny.provider.open(SlotRef(0), SPEC)
        assert made.details["prepared"]
        made.close()

    def test_unused_machines_are_removed(self, tiny: Tiny) -> None:
        before = len(machines())
        tiny.provider.prepare(SlotRef(0), SPEC)
        until(lambda: len(machines()) > before, 30)
        tiny.provider.unprepare(SlotRef(0))
        until(lambda: len(machines()) == before, 30)


@pytest.fixture
def poor(data: Path) -> Iterator[QemuProvider]:
    """A provider that may have one machine only."""
    provider = QemuProvider(Settings(data_dir=data, qemu_memory_limit_mib=400))
    yield provider
    provider.close()


@pytest.mark.sampled(1)
class TestBackPressure:
    def test_no_machine_is_prepared_without_room(self, tiny: Tiny, poor: QemuProvider) -> None:
        made = poor.open(SlotRef(0), SPEC)
        poor.prepare(SlotRef(0), SPEC)
        with raises_code(ClusterLost, "host_memory_full"):
            poor.open(SlotRef(1), SPEC)
        made.close()

    def test_prepared_machines_make_room_for_running_ones(self, tiny: Tiny, poor: QemuProvider) -> None:
        before = len(machines())
        poor.prepare(SlotRef(1), SPEC)
        made = poor.open(SlotRef(0), SPEC)
        assert "prepared" not in made.details
        assert (len(machines()) - before, poor.slot_desktops.spares) == (1, {})
        made.close()


@pytest.mark.sampled(1, of="boots anew")
class TestTemplate:
    def test_is_made_of_a_machine_only_that_this_installation_calls_well(self, data: Path, tmp_path: Path) -> None:
        (tmp_path / "images").symlink_to(data / "images")
        provider = QemuProvider(Settings(data_dir=tmp_path, health_disk_mib=2000))
        with raises_fields(GuestLost, mentions="disk"):
            provider.template(SPEC)
        provider.close()


@pytest.mark.sampled(1, of="boots anew")
class TestColdBoot:
    def test_machine_boots_cold_without_a_template(self, data: Path, tmp_path: Path) -> None:
        (tmp_path / "images").symlink_to(data / "images")
        (tmp_path / "templates").write_text("in the way")
        provider = QemuProvider(Settings(data_dir=tmp_path))
        made = provider.open(SlotRef(0), SPEC)
        assert made.details["path"] == "cold boot"
        assert "the template of the image" in made.details["why_cold"]
        assert set(made.details["seconds"]) == {"qemu", "boot", "rest", "restored", "made"}
        assert is_right(made.desktop)
        provider.close()


class TestSupervisor:
    def test_killed_takes_its_machines_along_and_the_next_attempt_has_another(self, data: Path, tiny: Tiny) -> None:
        provider = QemuProvider(Settings(data_dir=data))
        made = provider.open(SlotRef(0), SPEC)
        qemu = machine_of(made)
        supervisor = qemu.parent()
        assert supervisor is not None
        os.kill(supervisor.pid, signal.SIGKILL)
        until(lambda: not made.alive())
        assert isinstance(made, RevocableDesktop)
        assert "supervisor" in made.revocation_reason()
        until(lambda: has_ended(qemu))
        made.close()
        again = provider.open(SlotRef(0), SPEC)
        assert again.desktop.frame().data
        provider.close()
        assert not again.alive()


@pytest.mark.sampled(1, of="boots anew")
class TestKvmThatDoesNotBootTheImage:
    """QEMU cannot start a machine with that processor on any host."""

    def test_emulation_fallback_is_tried_once_and_reported(self, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        host = replace(this_host(), acceleration=replace(ACCELERATED, cpu="no-such-processor"))
        monkeypatch.setattr(qemu, "this_host", lambda _: host)
        first, later = QemuProvider(Settings(data_dir=data)), QemuProvider(Settings(data_dir=data))
        try:
            template = first.template(SPEC)
            assert "QEMU did not start" in template.why_emulated
            assert later.template(SPEC) == template
            with closing(later.open(SlotRef(0), SPEC)) as opened:
                assert (opened.details["accelerator"], opened.details["path"]) == ("tcg", "clone")
                assert "did not boot with KVM" in opened.details["warning"]
        finally:
            first.close()
            later.close()
