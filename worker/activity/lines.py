"""Shows what long work is doing to a person at a terminal, or in a log."""

import logging
import os
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, RLock, Thread
from types import TracebackType
from typing import Self, TextIO

from worker.activity.screen import ScreenSample
from worker.activity.tracker import Activity, Tracker

EVERY_SECONDS = 10.0
_LOOK_SECONDS = 0.5
_SHORTEST = 0.01
"""A phase that took less is not worth a line."""
_WIDTH = 100
_CLEAR = "\r\x1b[K"


class ProgressLines:
    """Follows a tracker from a thread of its own, as long as the block lasts.

    A line says what begins and what it took. Meanwhile, every ten seconds another one says how long it has been
    going on and what the screen shows; on a terminal it is one line that changes every second.
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
        """Shows nothing yet.

        Args:
            tracker: of the work.
            out: where to.
            picture: file that gets the screen's newest picture; None = it is not kept.
            prefix: of each line.
            only_meanwhile: somebody else says what begins and what it took.
            every: seconds between two looks at the screen.
            now: monotonic clock.
        """
        self._tracker, self._out, self._picture, self._prefix = tracker, out, picture, prefix
        self._only_meanwhile, self._every, self._now = only_meanwhile, every, now
        self._terminal, self._lock, self._ending = out.isatty(), RLock(), Event()
        self._handlers = list(logging.getLogger().handlers)
        self._begun: list[Activity] = []
        self._current: Activity | None = None
        self._look: ScreenSample | None = None
        self._seen, self._look_at, self._pending, self._saved = 0, 0.0, False, False
        self._thread = Thread(target=self._run, name="progress", daemon=True)

    def __enter__(self) -> Self:
        """Begins to follow."""
        for handler in self._handlers:
            handler.addFilter(self._make_way)
        self._thread.start()
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        """Shows what has ended, and ends."""
        self._ending.set()
        self._thread.join()
        self.show()
        with self._lock:
            self._clear()
        for handler in self._handlers:
            handler.removeFilter(self._make_way)

    def _make_way(self, _: logging.LogRecord) -> bool:
        """What else is logged begins at the beginning of a line."""
        with self._lock:
            self._clear()
        return True

    def _run(self) -> None:
        while not self._ending.wait(_LOOK_SECONDS):
            self.show()

    def say(self, text: str) -> None:
        """Another line between ours."""
        with self._lock:
            self._clear()
            self._out.write(f"{self._prefix}{text}\n")
            self._out.flush()

    def show(self) -> None:
        """Shows what is new."""
        with self._lock:
            for activity in [each for each in self._begun if each.seconds is not None]:
                self._begun.remove(activity)
                self._end(activity)
            for activity in self._tracker.after(self._seen):
                self._seen = activity.number
                if activity.seconds is None:
                    self._begin(activity)
                else:
                    self._end(activity)
            current = self._tracker.current
            if current is not None:
                self._meanwhile(current)

    def _begin(self, activity: Activity) -> None:
        self._begun.append(activity)
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
            self._out.write(f"{_CLEAR}{f'{self._prefix}{text}'[: _width(self._out) - 1]}")
            self._out.flush()
            self._pending = True
        elif due:
            self.say(text)

    def _clear(self) -> None:
        if self._pending:
            self._out.write(_CLEAR)
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
            self.say(f"the screen's picture cannot be kept: {error}")
            self._picture = None
            return
        if not self._saved:
            self._saved = True
            self.say(f"the screen's newest picture: {self._picture}")


def _width(out: TextIO) -> int:
    try:
        return os.get_terminal_size(out.fileno()).columns or _WIDTH
    except (OSError, ValueError):
        return _WIDTH
