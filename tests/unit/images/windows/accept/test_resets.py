from collections.abc import Mapping
from typing import Any

import pytest

from backend.domain.errors import ClusterLost, GuestLost
from backend.domain.machines.slots import SlotRef
from backend.domain.model.run import ScreenSize
from backend.domain.ports.desktop import DesktopSpec, OpenDesktop
from tests.fakes.desktop import FakeDesktop
from tests.fakes.provider import FakeProvider
from worker.images.windows.accept.resets import first_start, nothing_left, resets, screens

SPEC = DesktopSpec()


class TestFirstStart:
    def test_first_start_passes_with_the_providers_details(self) -> None:
        section = first_start(FakeProvider(), SPEC)
        assert [line.name for line in section.lines if line.ok] == ["health check"]
        assert isinstance(section.facts["details"], Mapping)

    def test_a_failed_gate_is_named(self) -> None:
        def late(desktop: FakeDesktop) -> None:
            desktop.ailing = {"clock": 0.0}

        provider = FakeProvider()
        provider.on_open = late
        section = first_start(provider, SPEC)
        assert "clock" in section.lines[0].fault


class TestResets:
    def test_each_is_timed_and_every_desktop_ended(self) -> None:
        provider, told = FakeProvider(), list[str]()
        section = resets(provider, SPEC, 5, tell=told.append)
        assert section.ok
        assert len(section.lines) == len(told) == 5
        assert {"p50", "p95"} <= set(section.facts)
        assert all(opened.closed for opened in provider.opened)

    def test_failing_reset_ends_the_section(self) -> None:
        provider = FakeProvider()

        def second_is_the_last(_: FakeDesktop) -> None:
            if provider.prepared:
                provider.broken = ClusterLost("no memory")

        provider.on_open = second_is_the_last
        section = resets(provider, SPEC, 5, tell=print)
        assert [line.fault for line in section.lines] == ["", "no memory"]
        assert not section.ok

    def test_a_cold_boot_is_not_a_reset(self, monkeypatch: pytest.MonkeyPatch) -> None:
        provider, made = FakeProvider(), FakeProvider.open

        def cold(self: FakeProvider, slot: SlotRef, spec: DesktopSpec) -> OpenDesktop:
            opened = made(self, slot, spec)
            monkeypatch.setattr(opened, "details", {"path": "cold boot"})
            return opened

        monkeypatch.setattr(FakeProvider, "open", cold)
        section = resets(provider, SPEC, 2, tell=print)
        assert [line.fault for line in section.lines if not line.ok] == ["2 of 2 were cold boots"]


class TestScreens:
    def test_each_is_started_once_and_ended(self) -> None:
        provider = FakeProvider()
        specs = [DesktopSpec(screen=ScreenSize(width=width, height=600)) for width in (800, 1000)]
        section = screens(provider, specs)
        assert [line.name for line in section.lines if line.ok] == ["shows 800x600", "shows 1000x600"]
        assert [opened.closed for opened in provider.opened] == [1, 1]

    def test_unavailable_screen_size_is_named(self) -> None:
        provider = FakeProvider()

        def smaller(desktop: FakeDesktop) -> None:
            desktop.ailing = {"width": 640, "height": 480}

        provider.on_open = smaller
        (line,) = screens(provider, [SPEC]).lines
        assert "640x480" in line.fault
        assert provider.opened[0].closed == 1


class TestNothingLeft:
    def test_says_what_could_not_be_removed(self) -> None:
        class Stuck(FakeProvider):
            def close(self) -> None:
                raise GuestLost("it would not go")

        assert nothing_left(Stuck()).fault == "it would not go"
        assert nothing_left(FakeProvider()).ok


def test_details_are_plain() -> None:
    facts: Any = first_start(FakeProvider(), SPEC).facts
    assert facts["seconds"] >= 0
