"""Prints the progress of long-running work to a terminal or a log."""

import logging
import os
import time
from collections.abc import Callable
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Self, TextIO

from backend.domain.formats.foreign_text import VisibleStream
from backend.services.periodic_thread import PeriodicThread
from worker.activity.screen import ScreenSample
from worker.activity.tracker import Activity, Tracker

EVERY_SECONDS = 10.0
_LOOK_SECONDS = 0.5
_SHORTEST = 0.01
"""Shorter phases get no line."""
_WIDTH = 100
_CLEAR = "\r\x1b[K"


class ProgressLines:
    """Prints a tracker's activities from a background thread while the context is active.

    One line when a phase starts, one with its duration when it ends. In between, every ten seconds, a line with the
    elapsed time and what the screen shows; on a terminal it is one line that is updated every second.
    """

    def __init__(  # noqa: PLR0913 - how it shows it
        self,
        tracker: Tracker,
        out: TextIO,
        *,
        picture: Path | None = None,
        prefix: str = "",
        only_meanwhile: bool = False,
        every: float = EVERY_SECONDS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Does not start yet.

        Args:
            tracker: source of the activities.
            out: stream to print to.
            picture: file for the screen's latest picture; None = do not save it.
            prefix: of each line.
            only_meanwhile: print only the lines in between; the caller prints start and end.
            every: seconds between two samples of the screen.
            now: monotonic clock.
        """
        self._out = out if isinstance(out, VisibleStream) else VisibleStream(out)
        self._tracker, self._picture, self._prefix = tracker, picture, prefix
        self._only_meanwhile, self._every, self._now = only_meanwhile, every, now
        self._terminal, self._lock = out.isatty(), RLock()
        self._handlers = list(logging.getLogger().handlers)
        self._running: list[Activity] = []
        self._current: Activity | None = None
        self._look: ScreenSample | None = None
        self._last_number, self._look_at, self._pending, self._saved = 0, 0.0, False, False
        self._thread = PeriodicThread(
            "progress", self.show, every=_LOOK_SECONDS, delayed=True, broken="no progress shown"
        )

    def __enter__(self) -> Self:
        for handler in self._handlers:
            handler.addFilter(self._make_way)
        self._thread.start()
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        """Prints what has ended, then stops."""
        self._thread.stop(60.0)
        self.show()
        with self._lock:
            self._clear()
        for handler in self._handlers:
            handler.removeFilter(self._make_way)

    def _make_way(self, _: logging.LogRecord) -> bool:
        """Ends the updating line, so that other log output starts on a new one."""
        with self._lock:
            self._clear()
        return True

    def say(self, text: str) -> None:
        """Prints another line between ours."""
        with self._lock:
            self._clear()
            self._out.write(f"{self._prefix}{text}\n")
            self._out.flush()

    def show(self) -> None:
        with self._lock:
            for activity in [activity for activity in self._running if activity.seconds is not None]:
                self._running.remove(activity)
                self._end(activity)
            for activity in self._tracker.after(self._last_number):
                self._last_number = activity.number
                if activity.seconds is None:
                    self._begin(activity)
                else:
                    self._end(activity)
            current = self._tracker.current
            if current is not None:
                self._meanwhile(current)

    def _begin(self, activity: Activity) -> None:
        self._running.append(activity)
        if not self._only_meanwhile:
            self.say(activity.beginning())

    def _end(self, activity: Activity) -> None:
        if activity.failed:
            self._save(activity.last_look)
        seconds = self._tracker.seconds(activity)
        if not self._only_meanwhile and (activity.failed or seconds >= _SHORTEST):
            how = "failed" if activity.failed else "done"
            self.say(f"{activity.doing}: {how} after {seconds:.{0 if seconds >= 10 else 1}f} s")  # noqa: PLR2004

    def _meanwhile(self, activity: Activity) -> None:
        if activity is not self._current:
            self._current, self._look, self._look_at = activity, None, self._now() + self._every
        due = self._now() >= self._look_at
        if due:
            self._look_at = self._now() + self._every
            self._look = activity.look()
            self._save(self._look)
        text = activity.progress(self._tracker.seconds(activity), self._look)
        if self._terminal:
            self._out.stream.write(_CLEAR)
            self._out.write(f"{self._prefix}{text}"[: _width(self._out.stream) - 1])
            self._out.flush()
            self._pending = True
        elif due:
            self.say(text)

    def _clear(self) -> None:
        if self._pending:
            self._out.stream.write(_CLEAR)
            self._pending = False

    def _save(self, look: ScreenSample | None) -> None:
        if look is None or self._picture is None:
            return
        partial = self._picture.with_suffix(".part")
        try:
            self._picture.parent.mkdir(parents=True, exist_ok=True)
            partial.write_bytes(look.png)
            partial.replace(self._picture)
        except OSError as error:
            self.say(f"the screen's picture cannot be saved: {error}")
            self._picture = None
            return
        if not self._saved:
            self._saved = True
            self.say(f"latest picture of the screen: {self._picture}")


def _width(out: TextIO) -> int:
    try:
        return os.get_terminal_size(out.fileno()).columns or _WIDTH
    except (OSError, ValueError):
        return _WIDTH
