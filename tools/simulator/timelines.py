"""When what is simulated happens: in virtual time, one thing after the other, or in real time, in several threads."""

import heapq
import itertools
import time
from collections.abc import Callable
from threading import Condition, Thread
from typing import Protocol

from tools.simulator.clock import SimulationClock

Act = Callable[[], None]


class Timeline(Protocol):
    """Queue of acts, ordered by their time."""

    def now(self) -> float:
        """Seconds since it began."""
        ...

    def later(self, seconds: float, act: Act) -> None:
        """Schedules `act` for a number of seconds from now. Safe from any thread and from within an act."""
        ...


class VirtualTime:
    """Discrete events: an act takes no time, and the clock jumps to the next one."""

    def __init__(self, clock: SimulationClock) -> None:
        """Args: clock: the database's time."""
        self._clock = clock
        self._order = itertools.count()
        self._waiting: list[tuple[float, int, Act]] = []

    def now(self) -> float:
        return self._clock.seconds

    def later(self, seconds: float, act: Act) -> None:
        heapq.heappush(self._waiting, (self.now() + seconds, next(self._order), act))

    def run(self, until: Callable[[], bool], most: float = float("inf")) -> None:
        """Does what waits, in order, until the condition holds, nothing waits, or the seconds have passed."""
        while self._waiting and not until():
            at, _, act = heapq.heappop(self._waiting)
            if at > most:
                return
            self._clock.seconds = max(self._clock.seconds, at)
            act()


class RealTime:
    """Several threads do what is due, as a worker's threads do. An act that raises ends the simulation."""

    def __init__(self, threads: int) -> None:
        """Args: threads: that do things at the same time."""
        self._began = time.monotonic()
        self._order = itertools.count()
        self._waiting: list[tuple[float, int, Act]] = []
        self._changed = Condition()
        self._over = False
        self._error: Exception | None = None
        self._threads = [Thread(target=self._work, daemon=True) for _ in range(threads)]

    def now(self) -> float:
        return time.monotonic() - self._began

    def later(self, seconds: float, act: Act) -> None:
        with self._changed:
            heapq.heappush(self._waiting, (self.now() + seconds, next(self._order), act))
            self._changed.notify()

    def begin(self) -> None:
        """It begins now. By `time.monotonic`, which all processes of a machine share."""
        self._began = time.monotonic()

    def run(self, until: Callable[[], bool], most: float) -> None:
        """Runs due events until the condition holds or the seconds have passed; then waits for running ones."""
        for thread in self._threads:
            thread.start()
        with self._changed:
            while not until() and self._error is None and self.now() < most:
                self._changed.wait(0.05)
            self._over = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()
        if self._error is not None:
            raise self._error

    def _work(self) -> None:
        while (act := self._next()) is not None:
            try:
                act()
            except Exception as error:  # noqa: BLE001 - told by `run`, in the thread that waits for us
                self._error = error

    def _next(self) -> Act | None:
        with self._changed:
            while not self._over and self._error is None:
                pause = self._waiting[0][0] - self.now() if self._waiting else None
                if pause is not None and pause <= 0:
                    return heapq.heappop(self._waiting)[2]
                self._changed.wait(pause)
            return None
