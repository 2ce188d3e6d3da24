"""Tracker of long-running work: workers record phases, viewers poll them."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from threading import Lock
from typing import Any, Protocol, runtime_checkable

from backend.domain.errors import DeskarenaError
from backend.domain.machines.slots import SlotRef
from worker.activity.screen import ScreenSample, ScreenWatch

_MOST = 100
"""Maximum number of activities kept."""


@dataclass(eq=False)
class Activity:
    """One phase of the work.

    Attributes:
        number: starts at 1 in each tracker.
        subject: what is being created, for example `the template of linux-minimal`.
        phase: code of the phase, for example `boot`.
        doing: description, for example `waiting for the guest API`.
        since: start time on the monotonic clock.
        limit: time limit in seconds; None = none.
        note: why it may take longer than usual; empty if unknown.
        screen: of the machine that is waited for; None if there is none.
        seconds: duration, once it has ended.
        failed: whether it ended with an error.
        last_look: last sample of the screen; None if there is none.
    """

    number: int
    subject: str
    phase: str
    doing: str
    since: float
    limit: float | None = None
    note: str = ""
    screen: ScreenWatch | None = None
    seconds: float | None = None
    failed: bool = False
    last_look: ScreenSample | None = None

    def look(self) -> ScreenSample | None:
        """Samples the screen; None if there is none or it is unavailable."""
        look = self.screen.look() if self.screen is not None else None
        self.last_look = look or self.last_look
        return look

    def beginning(self) -> str:
        """For example `waiting for the guest API (at most 600 s; machines are emulated)`."""
        facts = [f"at most {self.limit:.0f} s"] if self.limit is not None else []
        facts += [self.note] if self.note else []
        return f"{self.doing} ({'; '.join(facts)})" if facts else self.doing

    def progress(self, seconds: float, look: ScreenSample | None) -> str:
        """For example `waiting for the guest API: 42 s of at most 600 s; the screen has changed`."""
        most = f" of at most {self.limit:.0f} s" if self.limit is not None else ""
        return f"{self.doing}: {seconds:.0f} s{most}{f'; {look.words()}' if look is not None else ''}"


class Tracker:
    """Activities of one slot or job, sequential or nested. Thread-safe."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """Args: now: monotonic clock."""
        self._now, self._numbers, self._lock = now, count(1), Lock()
        self._open: list[Activity] = []
        self._all: deque[Activity] = deque(maxlen=_MOST)

    @property
    def current(self) -> Activity | None:
        """The innermost current activity, or None."""
        with self._lock:
            return self._open[-1] if self._open else None

    def after(self, number: int) -> Sequence[Activity]:
        """All activities after the given number, oldest first; the last may still run."""
        with self._lock:
            return [record for record in self._all if record.number > number]

    def seconds(self, activity: Activity) -> float:
        """Elapsed time, or duration if it has ended."""
        return activity.seconds if activity.seconds is not None else self._now() - activity.since

    @contextmanager
    def during(  # noqa: PLR0913 - what is known of a phase
        self,
        phase: str,
        doing: str,
        *,
        subject: str = "",
        limit: float | None = None,
        note: str = "",
        screen: ScreenWatch | None = None,
    ) -> Iterator[Activity]:
        """Context manager that records the block as one phase. See `Activity`.

        If it has a limit or a screen, a DeskarenaError that ends it gets what was waited for, for how long, and what
        the screen showed last, in the message and as fields in `waited`.
        """
        activity = Activity(next(self._numbers), subject, phase, doing, self._now(), limit, note, screen)
        with self._lock:
            self._open.append(activity)
            self._all.append(activity)
        try:
            yield activity
        except BaseException as error:
            activity.failed = True
            waits = limit is not None or screen is not None
            if waits and isinstance(error, DeskarenaError) and not error.waited:
                self._explain(error, activity)
            raise
        finally:
            activity.seconds = self._now() - activity.since
            with self._lock:
                self._open.remove(activity)

    def _explain(self, error: DeskarenaError, activity: Activity) -> None:
        seconds, look = self.seconds(activity), activity.look()
        waited: Mapping[str, Any] = {
            "phase": activity.phase,
            "seconds": round(seconds, 1),
            "screen": look.state.value if look is not None else "",
            "text": look.text if look is not None else "",
        }
        progress_text = f"; {look.words()}" if look is not None else ""
        error.waited, error.message = waited, f"{error.message} ({activity.doing}, {seconds:.0f} s{progress_text})"
        error.args = (error.message,)


@runtime_checkable
class ActivitySource(Protocol):
    """A provider that reports its activities."""

    def tracker(self, slot: SlotRef | None) -> Tracker | None:
        """Tracker of a slot, or without a slot of a template that is prepared in advance; None if nothing is known."""
        ...
