"""A value that many callers share, refreshed every few seconds."""

import time
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

from sqlalchemy.orm import Session

from backend.db.project_scope import visible_project
from backend.db.session import SessionFactory, read_only

FRESH_SECONDS = 5.0
T = TypeVar("T")


class CachedRead(Generic[T]):
    """A value that is at most a few seconds old: of concurrent callers one reads it, the others wait for it."""

    def __init__(
        self, read: Callable[[], T], *, seconds: float = FRESH_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Args: read: reads the value; seconds: maximum age; clock: monotonic."""
        self._read, self._seconds, self._clock = read, seconds, clock
        self._lock = Lock()
        self._value: T | None = None
        self._until = 0.0

    def value(self) -> T:
        """The value of a few seconds ago at most. Raises what reading it does."""
        with self._lock:
            if self._value is None or self._clock() >= self._until:
                self._value = self._read()
                self._until = self._clock() + self._seconds
            return self._value

    def forget(self) -> None:
        """Makes the next caller refresh it."""
        with self._lock:
            self._until = 0.0


def of_installation(factory: SessionFactory, read: Callable[[Session], T]) -> T:
    """Reads a value of the whole installation, not of the project that asks. Raises Unavailable."""
    with visible_project(None), read_only(factory) as session:
        return read(session)
