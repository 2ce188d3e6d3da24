import pytest
from PIL import Image

from backend.domain.errors import GuestLost, Unavailable
from tests.error_codes import raises_code, raises_fields
from tests.fakes.clock import FakeClock
from tests.unit.worker.activity.test_screen import SIZE, console, png
from worker.activity import ScreenWatch, Tracker


def watch(data: bytes) -> ScreenWatch:
    return ScreenWatch(lambda: data)


def lose_after(seconds: float, clock: FakeClock) -> None:
    """A guest that does not answer so long."""
    clock.sleep(seconds)
    raise GuestLost("no answer", hint="Look.")


class TestDuring:
    def test_activity_is_current_until_it_ends(self) -> None:
        clock = FakeClock()
        tracker = Tracker(clock.now)
        assert tracker.current is None
        with tracker.during("boot", "waiting for the guest API", limit=60.0, note="machines are emulated") as activity:
            clock.sleep(42)
            assert tracker.current is activity
            assert (activity.phase, tracker.seconds(activity), activity.limit) == ("boot", 42, 60)
        clock.sleep(5)
        assert tracker.current is None
        assert (activity.seconds, activity.failed, tracker.seconds(activity)) == (42, False, 42)

    def test_nested_activity_is_the_current_one(self) -> None:
        tracker = Tracker()
        with tracker.during("windows", "setting Windows up") as outer:
            with tracker.during("off", "waiting until Windows is off") as inner:
                assert tracker.current is inner
            assert tracker.current is outer
        assert [each.phase for each in tracker.after(0)] == ["windows", "off"]
        assert [each.phase for each in tracker.after(outer.number)] == ["off"]

    def test_error_reports_the_activity_and_the_screen(self) -> None:
        clock, blank = FakeClock(), png(Image.new("RGB", SIZE))
        tracker = Tracker(clock.now)
        with (
            raises_code(
                GuestLost, "lost", mentions=("no answer", "waiting for the guest API", "60 s", "blank")
            ) as raised,
            tracker.during("boot", "waiting for the guest API", limit=60.0, screen=watch(blank)) as activity,
        ):
            lose_after(60, clock)
        assert raised.value.waited == {"phase": "boot", "seconds": 60, "screen": "blank", "text": ""}
        assert str(raised.value) == raised.value.message
        assert raised.value.hint == "Look."
        assert activity.failed
        assert activity.last_look is not None

    def test_error_reports_the_innermost_activity(self) -> None:
        tracker = Tracker()
        with (
            pytest.raises(Unavailable) as raised,
            tracker.during("windows", "setting Windows up", limit=9.0),
            tracker.during("off", "waiting until Windows is off", limit=9.0, screen=watch(b"")),
        ):
            raise Unavailable("too long")
        assert raised.value.waited["phase"] == "off"
        assert raised.value.waited["screen"] == ""

    def test_error_without_a_time_limit_is_unchanged(self) -> None:
        with (
            raises_fields(Unavailable, message="no such file") as raised,
            Tracker().during("media", "reading the media"),
        ):
            raise Unavailable("no such file")
        assert raised.value.waited == {}


class TestProgress:
    def test_shows_elapsed_time_limit_and_screen(self) -> None:
        tracker = Tracker()
        with tracker.during("boot", "waiting", limit=600.0, screen=watch(console("x" * 60))) as activity:
            assert activity.beginning() == "waiting (at most 600 s)"
            assert activity.progress(42, None) == "waiting: 42 s of at most 600 s"
            assert activity.progress(42, activity.look()).startswith("waiting: 42 s of at most 600 s; the screen shows")
