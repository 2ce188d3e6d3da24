"""What long work is doing now. Who does it writes it down; who wants to show it looks, as often as it likes."""

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
"""Activities that are remembered."""


@dataclass(eq=False)
class Activity:
    """One phase of the work.

    Attributes:
        number: counts from 1 in its tracker.
        subject: what is being made, for example `the template of linux-minimal`.
        phase: its code, for example `boot`.
        doing: the same in words, for example `waiting for the guest API`.
        since: when it began, by the monotonic clock.
        limit: seconds that it may take; None where nothing ends it.
        note: why it may take longer than usual; empty if nothing is known.
        screen: of the machine that is waited for; None where there is none.
        seconds: that it took, once it has ended.
        failed: it ended by an error.
        last_look: at the screen; None if nobody has looked.
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
        """What the screen shows; None where there is none, or it cannot be had."""
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
    """The activities of one place where work is done, one after the other or one within another. Safe for threads."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """Nothing is done yet. Args: now: monotonic clock."""
        self._now, self._numbers, self._lock = now, count(1), Lock()
        self._open: list[Activity] = []
        self._all: deque[Activity] = deque(maxlen=_MOST)

    @property
    def current(self) -> Activity | None:
        """What is being done now; the innermost."""
        with self._lock:
            return self._open[-1] if self._open else None

    def after(self, number: int) -> Sequence[Activity]:
        """All activities that began after the one of that number, oldest first; the last may be under way."""
        with self._lock:
            return [each for each in self._all if each.number > number]

    def seconds(self, activity: Activity) -> float:
        """For how long it has been going on, or how long it took."""
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
        """Writes down that the block is that phase. See `Activity`.

        Where it waits (it has a limit or a screen), one of our errors that ends it says from then on what was waited
        for, for how long, and what the screen showed last; its `waited` has the same as fields.
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
        shown = f"; {look.words()}" if look is not None else ""
        error.waited, error.message = waited, f"{error.message} ({activity.doing}, {seconds:.0f} s{shown})"
        error.args = (error.message,)


@runtime_checkable
class ActivitySource(Protocol):
    """A provider that tells what it is doing."""

    def tracker(self, slot: SlotRef | None) -> Tracker | None:
        """What is done for a slot, or, without one, for a template that is made ahead; None if nothing is known."""
        ...
