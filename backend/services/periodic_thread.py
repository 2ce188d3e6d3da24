"""Background thread that runs a function periodically or when woken; exceptions never stop it."""

import logging
from collections.abc import Callable
from threading import Event, Thread

from backend.domain.errors import Unavailable

MOST_REASONS = 20
"""Maximum number of reasons logged for one outage: a reason that changes each time would fill the log."""
logger = logging.getLogger(__name__)


class PeriodicThread:
    """Runs a function every few seconds in a daemon thread.

    While a server is unavailable, the function is retried and each reason is logged once, until a run succeeds. Any
    other error is logged each time.
    """

    def __init__(  # noqa: PLR0913 - what it runs, when, and what it logs
        self,
        name: str,
        turn: Callable[[], object],
        *,
        every: float,
        broken: str,
        away: str = "",
        errors: tuple[type[Exception], ...] = (Unavailable,),
        woken: Event | None = None,
        retry: float | None = None,
        delayed: bool = False,
    ) -> None:
        """Creates the thread; `start` starts it.

        Args:
            name: thread name.
            turn: function to run.
            every: seconds between two runs.
            broken: log message of an error that is not one of `errors`.
            away: log message of an outage; empty = not logged here, because another thread does.
            errors: exceptions that mean that a server is unavailable; their text is the reason.
            woken: event that starts a run at once.
            retry: seconds until the next run after one of `errors`; None = `every`.
            delayed: wait for `every` before the first run.
        """
        self._turn, self._every, self._delayed = turn, every, delayed
        self._retry = every if retry is None else retry
        self._broken, self._away, self._errors = broken, away, errors
        self._reasons: set[str] = set()
        self._woken = woken or Event()
        self._ended = Event()
        self._thread = Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """Starts a run at once. Thread-safe and cheap."""
        self._woken.set()

    def stop(self, seconds: float = 1.0) -> None:
        """Stops, waiting at most `seconds` for a current run. Safe to call twice, and before `start`."""
        self._ended.set()
        self._woken.set()
        if self._thread.ident is not None:
            self._thread.join(seconds)

    def _run(self) -> None:
        pause = self._every if self._delayed else 0.0
        while not self._ended.is_set():
            self._woken.wait(pause)
            self._woken.clear()
            if not self._ended.is_set():
                pause = self._safely(self._turn)

    def _safely(self, function: Callable[[], object]) -> float:
        """Runs it; returns the seconds until the next run."""
        try:
            function()
        except self._errors as error:
            reason = str(error)
            if reason not in self._reasons and len(self._reasons) < MOST_REASONS:
                self._reasons.add(reason)
                if self._away:
                    logger.warning("%s: %s", self._away, reason)
            return self._retry
        except Exception:
            logger.exception("%s", self._broken)
        else:
            self._reasons.clear()
        return self._every
