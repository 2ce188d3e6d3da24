"""Calls an agent in its own thread, so that a hanging agent does not block the attempt."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any

from backend.domain.errors import AgentFailed
from backend.domain.loop.agent_loop import AgentTimeout
from backend.telemetry.logs import in_this_context

LOOK_SECONDS = 0.2


@dataclass(frozen=True)
class _Answer:
    value: Any = None
    error: BaseException | None = None


class AgentThread:
    """The one thread that runs an agent's code, from its construction to its close.

    While the caller waits, it checks whether the attempt must stop.
    """

    def __init__(self, check: Callable[[], None], wait_seconds: Callable[[], float] = float) -> None:
        """Does not start the thread yet.

        Args:
            check: raises if the attempt must stop: lease lost, run cancelled, worker shutting down.
            wait_seconds: seconds that the attempt has waited for a model API so far; they do not count as the agent's.
        """
        self._check = check
        self._wait_seconds = wait_seconds
        self._calls: SimpleQueue[Callable[[], Any] | None] = SimpleQueue()
        self._answers: SimpleQueue[_Answer] = SimpleQueue()
        self._hangs = False
        # A daemon thread: a hanging agent must not keep the worker from exiting.
        Thread(target=in_this_context(self._work), name="agent", daemon=True).start()

    def __call__(self, call: Callable[[], Any], seconds: float) -> Any:
        """Runs `call` in the agent's thread; returns or raises what it does.

        Raises:
            AgentTimeout: no result within `seconds` of the agent's own time, or an earlier call still runs.
            AgentFailed: the agent tried to exit the process.
            DeskarenaError: raised by `check`.
        """
        if self._hangs:
            raise AgentTimeout
        self._calls.put(call)
        try:
            answer = self._wait(seconds)
        except BaseException:
            self._hangs = True
            raise
        if isinstance(answer.error, Exception):
            raise answer.error
        if answer.error is not None:
            raise AgentFailed(f"the agent raised {type(answer.error).__name__}", code="agent_raised") from answer.error
        return answer.value

    def close(self) -> None:
        """Lets the thread end once the agent returns."""
        self._calls.put(None)

    def _wait(self, seconds: float) -> _Answer:
        deadline, wait_seconds = time.monotonic() + seconds, self._wait_seconds()
        while True:
            remaining = deadline + self._wait_seconds() - wait_seconds - time.monotonic()
            try:
                return self._answers.get(timeout=max(0.0, min(remaining, LOOK_SECONDS)))
            except Empty:
                if remaining <= 0:
                    raise AgentTimeout from None
            self._check()

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            try:
                self._answers.put(_Answer(value=call()))
            except BaseException as error:  # noqa: BLE001 - handed over to the thread that asked.
                self._answers.put(_Answer(error=error))


class MonotonicClock:
    """Clock port on the real monotonic clock."""

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        Event().wait(seconds)
