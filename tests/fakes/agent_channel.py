"""A line without a broker."""

from collections import deque
from collections.abc import Mapping
from threading import Condition
from typing import Any

from backend.domain.errors import ClusterLost
from backend.domain.model.trajectory import Observation


class FakeLine:
    """Passes the port's contract suite. A test says things by `say` and looks at what was `shown`."""

    def __init__(self, *messages: Mapping[str, Any]) -> None:
        self.shown: list[tuple[Observation, Mapping[str, Any]]] = []
        self.here = False
        self.held, self.why = 0.0, ""
        self.closed = False
        self._said: deque[Mapping[str, Any]] = deque(messages)
        self._changed = Condition()

    def say(self, message: Mapping[str, Any]) -> None:
        """The other end speaks."""
        with self._changed:
            self._said.append(message)
            self._changed.notify_all()

    def show(self, observation: Observation, agent_view: Mapping[str, Any]) -> None:
        with self._changed:
            self.shown.append((observation, agent_view))
            self._changed.notify_all()

    def take(self, seconds: float) -> Mapping[str, Any] | None:
        with self._changed:
            self._changed.wait_for(lambda: bool(self._said) or self.closed, seconds)
            if self.closed:
                raise ClusterLost("the line was closed: the attempt is over")
            return self._said.popleft() if self._said else None

    def present(self) -> bool:
        return self.here

    def wait_seconds(self) -> float:
        return self.held

    def unheard(self) -> str:
        return self.why

    def close(self) -> None:
        with self._changed:
            self.closed = True
            self._changed.notify_all()

    def wait_shown(self, count: int, seconds: float = 10.0) -> None:
        """Waits until this many observations have been shown."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.shown) >= count, seconds), len(self.shown)
