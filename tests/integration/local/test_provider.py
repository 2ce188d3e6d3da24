"""The provider with real sessions: pristine desktops, spares, losses, and an end that leaves nothing."""

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from backend.config import Settings
from backend.domain.errors import ClusterLost, GuestLost
from backend.domain.machines.desktop_end import EndCause
from backend.domain.machines.slots import SlotRef
from backend.domain.model.run import ScreenSize
from backend.domain.ports.desktop import DesktopSpec, OpenDesktop, Provider
from tests.error_codes import raises_code
from tests.integration.desktop_supervisor.helpers import eventually, exists, family, pid_by_name, supervisor_options
from worker.desktop_supervisor.client import (
    CHECKOUT,
    DesktopHandle,
    DesktopSupervisorClient,
    DesktopSupervisorError,
    DesktopSupervisorOptions,
)
from worker.local.limits import MIB, DesktopLimits
from worker.providers import local
from worker.providers.local import LocalDesktop, LocalProvider

pytestmark = pytest.mark.desktop
SPEC = DesktopSpec(screen=ScreenSize(width=800, height=600))
OTHER = DesktopSpec(screen=ScreenSize(width=1024, height=768))
SERVER, SITE = CHECKOUT / "vm_images" / "guest_server", CHECKOUT / ".guest-site"
HOG = "import mmap\nheld = []\nwhile True:\n m = mmap.mmap(-1, 8 * 2**20)\n m.write(b'x' * 8 * 2**20)\n held.append(m)"


@pytest.fixture(scope="module", params=["root", "user"])
def provider(request: pytest.FixtureRequest) -> Iterator[LocalProvider]:
    """As root and as an ordinary user, in turn."""
    with supervisor_options(request.param, server=SERVER, site=SITE) as options:
        found = LocalProvider(Settings(data_dir=options.cache.parent / "data"), options=options)
        try:
            yield found
        finally:
            found.close()


@pytest.fixture(scope="module")
def once() -> Iterator[LocalProvider]:
    """As an ordinary user only: what is tested with it does not depend on rights."""
    with supervisor_options("user", server=SERVER, site=SITE) as options:
        found = LocalProvider(Settings(data_dir=options.cache.parent / "data"), options=options)
        try:
            yield found
        finally:
            found.close()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[LocalProvider]:
    """One that a test may break."""
    with supervisor_options("user", server=SERVER, site=SITE) as options:
        found = LocalProvider(Settings(data_dir=tmp_path), options=options)
        try:
            yield found
        finally:
            found.close()


def of(opened: OpenDesktop) -> LocalDesktop:
    assert isinstance(opened, LocalDesktop)
    return opened


def end_everything(opened: OpenDesktop) -> None:
    """From inside: with its window manager the session ends."""
    with contextlib.suppress(GuestLost):
        opened.desktop.launch(["openbox", "--exit"])


def forever(action: Callable[[], object]) -> None:
    while True:
        action()


class TestAvailability:
    def test_says_what_is_in_force_and_which_programs_there_are(self, provider: LocalProvider) -> None:
        found = provider.availability()
        assert found.ok, found.reason
        assert "home: overlay" in found.reason
        assert "memory by" in found.reason
        assert {"python3", "sh", "openbox"} <= set(found.programs)
        assert provider.availability() is found, "it is tried out once"

    def test_says_why_not(self, tmp_path: Path) -> None:
        with supervisor_options("user", server=SERVER) as options:
            broken = LocalProvider(Settings(data_dir=tmp_path), options=replace(options, site=options.cache / "absent"))
            found = broken.availability()
            broken.close()
        assert not found.ok
        assert "make setup" in found.reason
        assert "docs/internals/local-provider.md" in found.reason


@pytest.mark.sampled(4)
class TestOpen:
    def test_is_the_port(self, provider: LocalProvider) -> None:
        port: Provider = provider
        opened = port.open(SlotRef(0), SPEC)
        try:
            assert opened.alive()
            assert opened.death_reason() == ""
            assert (opened.desktop.screen.width, opened.desktop.frame().width) == (800, 800)
            assert opened.desktop.execute(["id", "-un"]).output == "user\n"
            assert opened.stream_address()[0].startswith("unix:")
            assert opened.details["home"] == "overlay"
            assert set(opened.details["limits"]) == {"memory", "processes", "cpu", "user"}
        finally:
            opened.close()
        assert not opened.alive()
        assert opened.death_reason() == "destroyed"

    def test_every_desktop_is_pristine(self, provider: LocalProvider) -> None:
        opened = provider.open(SlotRef(0), SPEC)
        opened.desktop.write_file("/home/user/Desktop/note", b"left behind")
        opened.desktop.write_file("/tmp/note", b"left behind")
        opened.close()
        opened = provider.open(SlotRef(0), SPEC)
        shown = opened.desktop.execute(["ls", "/home/user/Desktop", "/tmp/note"])
        assert "note\n" not in shown.output.replace("/tmp/note\n", "")
        assert "No such file" in shown.error
        opened.close()

    def test_secrets_differ_and_one_does_not_open_the_other(self, provider: LocalProvider) -> None:
        first, second = provider.open(SlotRef(0), SPEC), provider.open(SlotRef(1), SPEC)
        assert first.stream_address()[1] != second.stream_address()[1]
        from worker.desktops import GuestDesktop

        foreign = GuestDesktop(first.stream_address()[0], second.stream_address()[1])
        with pytest.raises(GuestLost):
            foreign.frame()
        foreign.close()
        first.close()
        second.close()

    def test_a_slot_has_one_desktop(self, provider: LocalProvider) -> None:
        first = provider.open(SlotRef(0), SPEC)
        second = provider.open(SlotRef(0), SPEC)
        assert not first.alive()
        assert second.alive()
        second.close()

    def test_refuses_an_image_that_it_does_not_have(self, provider: LocalProvider) -> None:
        with raises_code(ClusterLost, "image_not_available", mentions="'windows-11'"):
            provider.open(SlotRef(0), DesktopSpec(image="windows-11"))

    def test_closed_desktop_leaves_no_process_or_socket(self, provider: LocalProvider) -> None:
        opened = of(provider.open(SlotRef(0), SPEC))
        opened.desktop.launch(["sh", "-c", "sleep 1000 & sleep 1000"])
        eventually(lambda: len(family(opened.handle.pid)) > 8)
        pids = family(opened.handle.pid)
        socket = Path(opened.stream_address()[0].removeprefix("unix:"))
        assert socket.exists()
        opened.close()
        opened.close()
        assert [pid for pid in pids if exists(pid)] == []
        assert not socket.parent.exists()
        assert opened.usage()["peak_memory"] > 20 * MIB


@pytest.mark.sampled(2)
class TestPrepare:
    def test_the_next_desktop_is_there_at_once(self, once: LocalProvider) -> None:
        once.prepare(SlotRef(0), SPEC)
        once.prepare(SlotRef(0), SPEC)
        once.slot_desktops.spares[SlotRef(0)].coming.result(60)
        opened = of(once.open(SlotRef(0), SPEC))
        assert opened.details["prepared"] is True
        assert opened.desktop.frame().width == 800
        opened.close()

    def test_spare_of_another_spec_is_not_used(self, once: LocalProvider) -> None:
        once.prepare(SlotRef(0), SPEC)
        spare = once.slot_desktops.spares[SlotRef(0)].coming.result(60)
        opened = of(once.open(SlotRef(0), OTHER))
        assert "prepared" not in opened.details
        assert opened.desktop.frame().width == 1024
        assert not spare.alive()
        opened.close()

    def test_new_spec_replaces_the_spare(self, once: LocalProvider) -> None:
        once.prepare(SlotRef(0), SPEC)
        first = once.slot_desktops.spares[SlotRef(0)].coming
        once.prepare(SlotRef(0), OTHER)
        second = once.slot_desktops.spares[SlotRef(0)].coming.result(60)
        assert not first.result(0).alive()
        assert second.spec == OTHER
        once.open(SlotRef(0), OTHER).close()

    def test_dead_spare_is_not_used(self, once: LocalProvider) -> None:
        once.prepare(SlotRef(0), SPEC)
        spare = once.slot_desktops.spares[SlotRef(0)].coming.result(60)
        end_everything(spare)
        eventually(lambda: not spare.alive())
        opened = of(once.open(SlotRef(0), SPEC))
        assert "prepared" not in opened.details
        opened.close()

    def test_does_nothing_without_room(self, once: LocalProvider, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("worker.providers.local.free_memory", lambda: 1024 * MIB)
        once.prepare(SlotRef(0), SPEC)
        assert once.slot_desktops.spares == {}


class _Stumbling(DesktopSupervisorClient):
    """Its first desktops, this many, do not start. Each one that is started is remembered."""

    stumbles = 0
    started: ClassVar[list["_Stumbling"]] = []

    def __init__(self, options: DesktopSupervisorOptions) -> None:
        super().__init__(options)
        self.started.append(self)

    def spawn(self, **wanted: Any) -> DesktopHandle:
        if self.stumbles:
            type(self).stumbles -= 1
            raise DesktopSupervisorError("its session ended with status 1", kind="guest")
        return super().spawn(**wanted)


@pytest.fixture
def supervisors(monkeypatch: pytest.MonkeyPatch) -> type[_Stumbling]:
    """Those that providers start in a test."""
    monkeypatch.setattr(_Stumbling, "started", [])
    monkeypatch.setattr(_Stumbling, "stumbles", 0)
    monkeypatch.setattr(local, "DesktopSupervisorClient", _Stumbling)
    return _Stumbling


class TestStart:
    def test_a_desktop_that_does_not_start_is_made_once_more(
        self, own: LocalProvider, supervisors: type[_Stumbling]
    ) -> None:
        supervisors.stumbles = 1
        opened = own.open(SlotRef(0), SPEC)
        assert opened.desktop.frame().data
        opened.close()

    def test_desktop_that_never_starts_is_reported(self, own: LocalProvider, supervisors: type[_Stumbling]) -> None:
        supervisors.stumbles = 2
        with raises_code(GuestLost, "desktop_not_started", mentions="status 1"):
            own.open(SlotRef(0), SPEC)


@pytest.mark.sampled(2)
class TestLoss:
    def test_a_desktop_that_ends_itself_says_so(self, once: LocalProvider) -> None:
        opened = once.open(SlotRef(0), SPEC)
        end_everything(opened)
        with pytest.raises(GuestLost):
            forever(opened.desktop.frame)
        assert "session ended" in opened.death_reason()
        assert opened.ending().cause is EndCause.SESSION_ENDED
        assert not opened.alive()
        opened.close()

    def test_memory_limit_is_the_end_cause(self, tmp_path: Path) -> None:
        with supervisor_options("user", server=SERVER, site=SITE) as options:
            limits = DesktopLimits(memory=320 * MIB, home=64 * MIB, tmp=32 * MIB, run=8 * MIB, shm=32 * MIB)
            provider = LocalProvider(Settings(data_dir=tmp_path), options=options, limits=limits)
            opened = provider.open(SlotRef(0), SPEC)
            opened.desktop.launch(["python3", "-c", HOG])
            eventually(lambda: not opened.alive(), 30)
            assert opened.death_reason().startswith("memory limit: it used")
            assert of(opened).revocation_reason() == ""
            assert opened.ending().cause is EndCause.MEMORY_LIMIT
            provider.close()

    def test_processor_limit_is_the_end_cause(self, once: LocalProvider) -> None:
        opened = once.open(SlotRef(0), SPEC)
        assert opened.ending().cause is EndCause.UNKNOWN
        opened.desktop.launch(["python3", "-c", "import os\nfor _ in range(7): os.fork()\nwhile True: pass"])
        eventually(lambda: opened.ending().cause is EndCause.PROCESSOR_LIMIT, 60)
        opened.close()

    def test_a_dead_supervisor_is_replaced(self, own: LocalProvider, supervisors: type[_Stumbling]) -> None:
        opened = own.open(SlotRef(0), SPEC)
        own.prepare(SlotRef(0), SPEC)
        own.slot_desktops.spares[SlotRef(0)].coming.result(60)
        (supervisor,) = supervisors.started
        os.kill(supervisor.pid, 9)
        eventually(lambda: not opened.alive())
        assert "supervisor died" in of(opened).revocation_reason()
        assert opened.ending().cause is EndCause.SUPERVISOR_ENDED
        opened.close()
        again = own.open(SlotRef(0), SPEC)
        assert again.desktop.frame().width == 800
        again.close()

    @pytest.mark.parametrize("name", ["Xvfb", "openbox"])
    def test_a_program_of_the_session_that_the_host_killed(self, once: LocalProvider, name: str) -> None:
        opened = of(once.open(SlotRef(0), SPEC))
        os.kill(pid_by_name(opened.handle.pid, f"{name}\n"), 9)
        assert opened.ending().cause is EndCause.SESSION_KILLED
        opened.close()


class TestClose:
    def test_takes_everything_along_and_makes_nothing_more(
        self, own: LocalProvider, supervisors: type[_Stumbling]
    ) -> None:
        opened = of(own.open(SlotRef(0), SPEC))
        own.prepare(SlotRef(0), SPEC)
        supervisor, pids = supervisors.started[0].pid, family(opened.handle.pid)
        own.close()
        own.close()
        assert [pid for pid in (supervisor, *pids) if exists(pid)] == []
        own.prepare(SlotRef(0), SPEC)
        with raises_code(ClusterLost, "worker_stopping"):
            own.open(SlotRef(0), SPEC)
