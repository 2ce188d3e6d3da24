"""A thread that looks again and again, at once when it is woken, whatever goes wrong in between."""

import logging
from collections.abc import Callable
from threading import Event, Thread

from backend.domain.errors import Unavailable

MOST_REASONS = 20
"""So many are told of one failure at most: one that changes each time would fill the log."""
logger = logging.getLogger(__name__)


class PeriodicThread:
    """Calls one function, round after round, in a thread of its own. Nothing that it raises ends the thread.

    A round that fails because a server is away is tried again: each reason is told once until a round works again.
    Any other error is logged each time.
    """

    def __init__(  # noqa: PLR0913 - what it does, and what it says
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
            name: of the thread.
            turn: what is done in each round.
            every: seconds between two rounds, if nobody wakes it.
            broken: what is logged with an error that is none of `errors`.
            away: what cannot be done meanwhile; empty = nothing is said of it, as somebody else says so already.
            errors: raised where a server is away; their text is why.
            woken: set when there may be something new.
            retry: seconds after one of `errors`; None = `every`.
            delayed: the first round comes after `every`, too, not at once.
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
        """There may be something new. Safe from any thread, cheap."""
        self._woken.set()

    def stop(self, seconds: float = 1.0) -> None:
        """Begins no further round; waits so long for one that is under way. Safe to call twice, and before `start`."""
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

    def _safely(self, what: Callable[[], object]) -> float:
        """Does it; the seconds until the next round."""
        try:
            what()
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
