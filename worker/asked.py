"""A thread that does what people asked for, one request after the other, apart from the slots."""

import logging
from abc import ABC, abstractmethod
from threading import Event, Thread

from backend.domain.errors import Unavailable

logger = logging.getLogger(__name__)


class Asked(ABC):
    """Takes one request after the other. Episodes never wait for it."""

    def __init__(self, name: str, *, every: float) -> None:
        """Takes note.

        Args:
            name: of the thread.
            every: seconds between two looks, if nobody wakes it.
        """
        self._every = every
        self._woken = Event()
        self._ended = Event()
        self._thread = Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def wake(self) -> None:
        """There may be a request. Safe from any thread, cheap."""
        self._woken.set()

    def stop(self, seconds: float = 1.0) -> None:
        """Takes no more; waits so long for what is under way, which otherwise somebody else does again."""
        self._ended.set()
        self._woken.set()
        self._thread.join(seconds)

    @abstractmethod
    def one(self) -> bool:
        """Does the next request, in one transaction that keeps its row locked. False if there was none.

        Raises:
            Unavailable: the database is away; the request still waits.
        """

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                while not self._ended.is_set() and self.one():
                    pass
            except Unavailable:
                pass  # The dispatcher says so already.
            except Exception:
                logger.exception("%s: a request broke", self._thread.name)
            self._woken.wait(self._every)
            self._woken.clear()
