"""`make bench-health`: what counts as a false alarm, on fake desktops."""

import time

from backend.domain.errors import ClusterLost
from backend.domain.ports.desktop import DesktopSpec
from tests.fakes.desktop import FakeDesktop
from tests.fakes.provider import FakeProvider
from tools.bench.health import HealthCount, check_desktops, page

SPEC = DesktopSpec()


def checked(provider: FakeProvider, number: int = 3) -> HealthCount:
    count = HealthCount()
    check_desktops(provider, SPEC, number, count, until=time.monotonic() + 600)
    return count


def test_healthy_desktops_are_opened_closed_and_prepared_ahead() -> None:
    provider = FakeProvider()
    count = checked(provider)
    assert (count.total, len(count.seconds), count.alarms, count.lost) == (3, 3, [], [])
    assert [opened.closed for opened in provider.opened] == [1, 1, 1]
    assert len(provider.prepared) == 2


def test_a_finding_is_an_alarm() -> None:
    def wrong_clock(desktop: FakeDesktop) -> None:
        desktop.ailing = {"clock": 0.0}

    provider = FakeProvider()
    provider.on_open = wrong_clock
    count = checked(provider, 1)
    assert (count.total, len(count.alarms)) == (1, 1)
    assert "| Linux programs, local | 1 | 1 | 0 |" in page({"linux": count}, 0.5)
    assert f"- Linux programs, local: alarm: {count.alarms[0]}" in page({"linux": count}, 0.5)


def test_a_desktop_that_cannot_be_created_is_none() -> None:
    provider = FakeProvider()
    provider.broken = ClusterLost("no room", code="desktop_not_created")
    count = checked(provider, 2)
    assert (count.total, count.alarms, len(count.lost)) == (2, [], 2)


def test_no_desktop_opens_after_the_time_limit() -> None:
    provider, count = FakeProvider(), HealthCount()
    check_desktops(provider, SPEC, 3, count, until=0.0)
    assert (count.total, provider.opened) == (0, [])
