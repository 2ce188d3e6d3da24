"""Progress of an attempt while its desktop is created."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.fakes.attempt_log import MemoryBook
from tests.fakes.clock import FakeClock
from tests.unit.worker.activity.test_screen import console
from tests.waiting import until
from worker.activity import ScreenWatch, Tracker
from worker.attempt.desktop_progress import LOG_SECONDS, DesktopProgressWatch
from worker.attempt.live_stream import RENEW_SECONDS

ATTEMPT = uuid4()


class Watching:
    """Viewers of the attempt, and the frames that they were sent."""

    def __init__(self, viewers: int) -> None:
        self.viewers, self.frames = viewers, list[tuple[int, bytes, Mapping[str, Any]]]()

    def watched_width(self, attempt_id: UUID) -> int:
        return self.viewers if attempt_id == ATTEMPT else 0

    def hurried(self, attempt_id: UUID) -> bool:
        raise AssertionError(f"nobody can act on {attempt_id} yet")

    def put_frame(self, attempt_id: UUID, seq: int, jpeg: bytes, meta: Mapping[str, Any]) -> bool:
        assert attempt_id == ATTEMPT
        self.frames.append((seq, jpeg, meta))
        return True


class Opening:
    """A booting machine and its reported progress."""

    def __init__(self, viewers: int = 0) -> None:
        self.clock, self.book, self.watching = FakeClock(), MemoryBook(), Watching(viewers)
        self.tracker = Tracker(self.clock.now)
        self.shown = console("SeaBIOS")
        self.screen = ScreenWatch(lambda: self.shown, now=self.clock.now)
        self.watch = DesktopProgressWatch(ATTEMPT, self.book, lambda: self.tracker, self.watching, now=self.clock.now)

    def boot(self, *seconds: float) -> None:
        """Looks after each of these pauses."""
        about: Any = {"subject": "the template of tiny", "limit": 600.0, "note": "machines are emulated"}
        with self.tracker.during("boot", "waiting for the guest API", screen=self.screen, **about):
            for pause in seconds:
                self.clock.sleep(pause)
                self.watch.look()


class TestBook:
    def test_each_phase_is_recorded_once(self) -> None:
        opening = Opening()
        opening.boot(1, 2, 1)
        opening.boot(5)
        assert opening.book.openings == [
            {
                "subject": "the template of tiny",
                "phase": "boot",
                "doing": "waiting for the guest API",
                "limit": 600.0,
                "note": "machines are emulated",
                "seconds": seconds,
            }
            for seconds in (3.0, 5.0)
        ]

    def test_short_openings_are_dropped(self) -> None:
        opening = Opening()
        opening.boot(0.5, 1)
        opening.watch.look()
        assert opening.book.openings == []

    def test_unknown_slot_records_nothing(self) -> None:
        book = MemoryBook()
        DesktopProgressWatch(ATTEMPT, book, lambda: None, Watching(1)).look()
        assert book.openings == []

    def test_polls_in_the_background_within_the_block(self) -> None:
        opening = Opening()
        with opening.tracker.during("check", "checking the files"):
            opening.clock.sleep(5)
            with opening.watch:
                until(lambda: opening.book.openings)
        assert [facts["phase"] for facts in opening.book.openings] == ["check"]


class TestLog:
    def test_logs_at_once_and_then_periodically(self, caplog: pytest.LogCaptureFixture) -> None:
        opening = Opening()
        with caplog.at_level("INFO", "worker.attempt.desktop_progress"):
            opening.boot(5, 1, 1, LOG_SECONDS)
        first, second = (record.getMessage() for record in caplog.records)
        assert "the template of tiny: waiting for the guest API: 5 s of at most 600 s" in first
        assert f"{7 + LOG_SECONDS:.0f} s of at most 600 s; the screen has not changed" in second


class TestFrames:
    def test_boot_frames_are_numbered_below_desktop_frames(self) -> None:
        opening = Opening(viewers=1)
        opening.boot(3)
        opening.shown = console("SeaBIOS", "Booting from ROM")
        opening.boot(3)
        (first, jpeg, meta), (second, *_) = opening.watching.frames
        assert first < second < 1
        assert jpeg[:2] == b"\xff\xd8"
        assert (meta["width"], meta["height"], meta["step"]) == (720, 400, 0)

    def test_unchanged_frame_is_sent_again_before_it_expires(self) -> None:
        opening = Opening(viewers=1)
        opening.boot(3, RENEW_SECONDS / 2)
        assert len(opening.watching.frames) == 1
        opening.boot(3, RENEW_SECONDS / 2, RENEW_SECONDS / 2)
        assert len(opening.watching.frames) == 3

    def test_no_frames_without_viewers(self) -> None:
        opening = Opening()
        opening.boot(3, 1)
        assert opening.watching.frames == []
