"""Lines about long work for a person at a terminal, and for a log; by a clock of ours."""

import io
import logging
from pathlib import Path

import pytest

from tests.fakes.clock import FakeClock
from tests.unit.worker.activity.test_screen import console
from worker.activity import ProgressLines, ScreenWatch, Tracker


class Terminal(io.StringIO):
    """Is one."""

    def isatty(self) -> bool:
        return True


class TrackedLines:
    """A tracker and the lines that follow it."""

    def __init__(self, out: io.StringIO, **more: object) -> None:
        self.clock, self.out = FakeClock(), out
        self.tracker = Tracker(self.clock.now)
        self.screen = ScreenWatch(lambda: console("Reached target", "Basic System"), now=self.clock.now)
        self.lines = ProgressLines(self.tracker, out, now=self.clock.now, **more)  # type: ignore[arg-type]

    def boot(self, seconds: int) -> None:
        """Looks every second while a machine boots, and once afterwards."""
        with self.tracker.during("boot", "booting", limit=60.0, screen=self.screen):
            for _ in range(seconds):
                self.lines.show()
                self.clock.sleep(1)
        self.lines.show()

    def told(self) -> list[str]:
        return self.out.getvalue().splitlines()


def fail_after(tracker: Tracker) -> None:
    """Looks at what is done once, and breaks it."""
    activity = tracker.current
    assert activity is not None
    activity.look()
    raise OSError("no answer")


class TestLog:
    def test_logs_start_progress_every_ten_seconds_and_duration(self) -> None:
        work = TrackedLines(io.StringIO())
        work.boot(25)
        begun, ten, twenty, done = work.told()
        assert begun == "booting (at most 60 s)"
        assert ten.startswith("booting: 10 s of at most 60 s; the screen shows")
        assert twenty.startswith("booting: 20 s of at most 60 s; the screen has not changed for 10 s")
        assert done == "booting: done after 25 s"

    def test_events_between_two_polls_are_logged(self) -> None:
        work = TrackedLines(io.StringIO())
        with work.tracker.during("start", "starting"):
            work.clock.sleep(0.2)
        with work.tracker.during("lock", "waiting for others"):
            pass
        with pytest.raises(OSError), work.tracker.during("check", "checking"):  # noqa: PT011 - any
            raise OSError
        work.lines.show()
        assert work.told() == ["starting: done after 0.2 s", "checking: failed after 0.0 s"]

    def test_events_logged_elsewhere_are_not_repeated(self) -> None:
        work = TrackedLines(io.StringIO(), only_meanwhile=True, prefix="image: ")
        work.boot(12)
        (ten,) = work.told()
        assert ten.startswith("image: booting: 10 s")


class TestTerminal:
    def test_is_one_line_that_changes_every_second(self) -> None:
        work = TrackedLines(Terminal())
        work.boot(3)
        begun, meanwhile = work.told()[0], work.out.getvalue().split("\r")[1:]
        assert begun == "booting (at most 60 s)"
        assert [line.partition("s of")[0].strip() for line in meanwhile[:3]] == [
            f"\x1b[Kbooting: {second}" for second in (0, 1, 2)
        ]
        assert meanwhile[-1] == "\x1b[Kbooting: done after 3.0 s\n"

    def test_other_log_lines_start_on_a_new_line(self, monkeypatch: pytest.MonkeyPatch) -> None:
        out = Terminal()
        handler = logging.StreamHandler(out)
        monkeypatch.setattr(logging.getLogger(), "handlers", [handler])
        work = TrackedLines(out)
        with work.lines, work.tracker.during("boot", "booting"):
            work.lines.show()
            logging.getLogger("worker").warning("something else")
        assert "\x1b[Ksomething else\n" in out.getvalue()
        assert handler.filters == []


class TestPicture:
    def test_is_saved_complete_and_its_path_logged_once(self, tmp_path: Path) -> None:
        picture = tmp_path / "cache" / "prepare-tiny.png"
        work = TrackedLines(io.StringIO(), picture=picture)
        work.boot(25)
        assert picture.read_bytes()[:4] == b"\x89PNG"
        assert sum(str(picture) in line for line in work.told()) == 1
        assert [each.name for each in picture.parent.iterdir()] == [picture.name]

    def test_last_picture_of_a_failed_activity_is_saved(self, tmp_path: Path) -> None:
        picture = tmp_path / "prepare-tiny.png"
        work = TrackedLines(io.StringIO(), picture=picture)
        with pytest.raises(OSError, match="no answer"), work.tracker.during("boot", "booting", screen=work.screen):
            fail_after(work.tracker)
        work.lines.show()
        assert picture.is_file()

    def test_failure_to_save_is_logged_and_work_continues(self, tmp_path: Path) -> None:
        (tmp_path / "cache").write_text("in the way")
        work = TrackedLines(io.StringIO(), picture=tmp_path / "cache" / "a.png")
        work.boot(25)
        assert sum("cannot be saved" in line for line in work.told()) == 1
        assert work.told()[-1] == "booting: done after 25 s"
