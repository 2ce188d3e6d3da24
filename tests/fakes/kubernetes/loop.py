"""One thread for all controllers: what is to be done now, and what later. A thousand nodes need no thousand threads."""

import heapq
import threading
import time
from collections.abc import Callable
from itertools import count

Work = Callable[[], object]


class WorkLoop:
    """Runs pieces of work one after the other.

    Attributes:
        failures: what went wrong in them; `close` raises the first.
    """

    def __init__(self) -> None:
        self.failures: list[BaseException] = []
        self._due: list[tuple[float, int, Work]] = []
        self._numbers = count()
        self._wake = threading.Condition()
        self._over = False
        self._thread = threading.Thread(target=self._run, name="fake-cluster", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def soon(self, work: Work) -> None:
        """After what is due already."""
        self.later(0.0, work)

    def later(self, seconds: float, work: Work) -> None:
        """Once, after that time."""
        with self._wake:
            heapq.heappush(self._due, (time.monotonic() + seconds, next(self._numbers), work))
            self._wake.notify()

    def _next(self) -> Work | None:
        with self._wake:
            while not self._over:
                wait = self._due[0][0] - time.monotonic() if self._due else None
                if wait is not None and wait <= 0:
                    return heapq.heappop(self._due)[2]
                self._wake.wait(wait)
        return None

    def _run(self) -> None:
        while (work := self._next()) is not None:
            try:
                work()
            except Exception as failure:  # noqa: BLE001 - kept, and raised at the end
                self.failures.append(failure)

    def close(self) -> None:
        """Ends; what is due is left undone. Raises the first failure."""
        with self._wake:
            self._over = True
            self._wake.notify_all()
        if self._thread.is_alive():
            self._thread.join()
        if self.failures:
            raise self.failures[0]
