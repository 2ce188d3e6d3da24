from collections.abc import Mapping
from typing import Any

import pytest

from backend.domain.errors import Cancelled, GuestLost, GuestRefused
from backend.domain.machines.health import DesktopHealth, DiskRoom, HealthLimits
from backend.domain.model.run import ScreenSize
from tests.error_codes import raises_code
from tests.fakes.desktop import FakeDesktop
from worker.base.health import LOOK_AGAIN_SECONDS, check_health, check_room

SCREEN = ScreenSize(width=640, height=480)


class PatienceClock:
    """A clock that moves only while somebody waits, and what happens meanwhile."""

    def __init__(self, desktop: FakeDesktop, then: Mapping[int, Mapping[str, Any]] | None = None) -> None:
        self.now, self.pauses = 0.0, 0
        self._desktop, self._then = desktop, then or {}

    def pause(self, seconds: float) -> None:
        self.now += seconds
        self.pauses += 1
        self._desktop.ailing = dict(self._then.get(self.pauses, self._desktop.ailing))


def check(desktop: FakeDesktop, patience: PatienceClock | None = None, wanted: ScreenSize = SCREEN) -> None:
    waiting = patience or PatienceClock(desktop)
    limits = HealthLimits(patience=3.0)
    check_health(desktop, wanted, desktop.frame(), limits, pause=waiting.pause, monotonic=lambda: waiting.now)


@pytest.fixture
def desktop() -> FakeDesktop:
    return FakeDesktop(SCREEN)


class TestCheckHealth:
    def test_healthy_desktop_is_checked_once(self, desktop: FakeDesktop) -> None:
        patience = PatienceClock(desktop)
        check(desktop, patience)
        assert patience.pauses == 0

    def test_all_failures_are_reported_together(self, desktop: FakeDesktop) -> None:
        desktop.ailing = {"clock": 0.0, "black": True}
        patience = PatienceClock(desktop)
        with raises_code(GuestLost, "desktop_unhealthy", mentions="black_screen") as lost:
            check(desktop, patience)
        assert "docs/internals/health.md" in lost.value.hint
        assert patience.pauses == 0

    def test_black_screen_is_checked_again(self, desktop: FakeDesktop) -> None:
        desktop.ailing = {"black": True}
        patience = PatienceClock(desktop, {4: {}})
        check(desktop, patience)
        assert patience.pauses == 4

    def test_process_that_exits_is_ignored(self, desktop: FakeDesktop) -> None:
        desktop.ailing = {"processes": ({"pid": 5, "name": "cmd.exe"},)}
        patience = PatienceClock(desktop, {2: {}})
        check(desktop, patience)
        assert patience.pauses == 2

    def test_leftover_process_is_unhealthy(self, desktop: FakeDesktop) -> None:
        desktop.ailing = {"processes": ({"pid": 5, "name": "miner"},)}
        with raises_code(GuestLost, "desktop_unhealthy"):
            check(desktop, PatienceClock(desktop))

    def test_screen_that_stays_black_is_unhealthy(self, desktop: FakeDesktop) -> None:
        desktop.ailing = {"black": True}
        patience = PatienceClock(desktop)
        with raises_code(GuestLost, "desktop_unhealthy", mentions="black_screen"):
            check(desktop, patience)
        assert patience.now == pytest.approx(3.0, abs=2 * LOOK_AGAIN_SECONDS)

    def test_wrong_screen_size_is_unhealthy(self, desktop: FakeDesktop) -> None:
        with raises_code(GuestLost, "desktop_unhealthy", mentions=("640x480", "800x600")):
            check(desktop, wanted=ScreenSize(width=800, height=600))

    def test_wait_can_be_stopped(self, desktop: FakeDesktop) -> None:
        desktop.ailing = {"black": True}

        def cancelled(_: float) -> None:
            raise Cancelled("the run was cancelled")

        with pytest.raises(Cancelled):
            check_health(desktop, SCREEN, desktop.frame(), HealthLimits(), pause=cancelled)

    def test_guest_without_the_health_route_is_rejected(
        self, desktop: FakeDesktop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.refusing(monkeypatch, GuestRefused("no route /health", kind="not_found"))
        with raises_code(GuestLost, "desktop_unhealthy", mentions="guest_api"):
            check(desktop)

    def test_unreadable_facts_are_unhealthy(self, desktop: FakeDesktop, monkeypatch: pytest.MonkeyPatch) -> None:
        self.refusing(monkeypatch, GuestRefused("Windows could not be asked about its licence", kind="failed"))
        with raises_code(GuestLost, "health_unknown"):
            check(desktop)

    def test_dead_desktop_raises_guest_lost(self, desktop: FakeDesktop) -> None:
        seen = desktop.frame()
        desktop.die()
        with pytest.raises(GuestLost):
            check_health(desktop, SCREEN, seen, HealthLimits(), pause=lambda _: None)

    @staticmethod
    def refusing(monkeypatch: pytest.MonkeyPatch, error: GuestRefused) -> None:
        def health(_: FakeDesktop) -> DesktopHealth:
            raise error

        monkeypatch.setattr(FakeDesktop, "health", health)


class TestCheckRoom:
    def test_desktop_with_free_space_passes(self, desktop: FakeDesktop) -> None:
        desktop.ailing = {"clock": 0.0, "disks": (DiskRoom(path="/", free=2**20, size=2**30),)}
        check_room(desktop)

    def test_a_full_disk_is_named(self, desktop: FakeDesktop) -> None:
        desktop.ailing = {"disks": (DiskRoom(path="/", free=2**30, size=2**30), DiskRoom(path="/tmp", free=0, size=5))}
        with raises_code(GuestLost, "desktop_disk_full", mentions=("0", "MiB", "/tmp")):
            check_room(desktop)

    def test_unreadable_disk_does_not_count_as_full(
        self, desktop: FakeDesktop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        TestCheckHealth.refusing(monkeypatch, GuestRefused("the licence is unknown", kind="failed"))
        check_room(desktop)
