"""Calls an agent in a thread of its own, so that one that never answers holds up nobody."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from backend.domain.errors import AgentFailed
from backend.domain.loop.agent_loop import AgentTimeout

LOOK_SECONDS = 0.2


@dataclass(frozen=True)
class _Answer:
    value: Any = None
    error: BaseException | None = None


class AgentThread:
    """The one thread that runs an agent's code, from its making to its farewell.

    While it waits it looks whether the attempt must stop.
    """

    def __init__(self, check: Callable[[], None], held_seconds: Callable[[], float] = float) -> None:
        """Takes what it asks while it waits.

        Args:
            check: raises when the attempt must stop: lease lost, run cancelled, worker shutting down.
            held_seconds: seconds that the attempt has waited for a model's API so far; they are not the agent's.
        """
        self._check = check
        self._held = held_seconds
        self._calls: SimpleQueue[Callable[[], Any] | None] = SimpleQueue()
        self._answers: SimpleQueue[_Answer] = SimpleQueue()
        self._hangs = False
        # A daemon: an agent that hangs must not keep the worker from ending.
        Thread(target=self._work, name="agent", daemon=True).start()

    def __call__(self, call: Callable[[], Any], seconds: float) -> Any:
        """Runs `call` in the agent's thread and returns what it returns, or raises what it raises.

        Raises:
            AgentTimeout: no answer within `seconds` of the agent's own time, or to an earlier call.
            AgentFailed: the agent tried to end the process.
            DeskarenaError: what `check` raises when the attempt must stop.
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
        """Lets the thread end once the agent lets go of it."""
        self._calls.put(None)

    def _wait(self, seconds: float) -> _Answer:
        deadline, held_seconds = time.monotonic() + seconds, self._held()
        while True:
            left = deadline + self._held() - held_seconds - time.monotonic()
            try:
                return self._answers.get(timeout=max(0.0, min(left, LOOK_SECONDS)))
            except Empty:
                if left <= 0:
                    raise AgentTimeout from None
            self._check()

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            try:
                self._answers.put(_Answer(value=call()))
            except BaseException as error:  # noqa: BLE001 - handed over to the thread that asked.
                self._answers.put(_Answer(error=error))
