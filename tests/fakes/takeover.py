"""A person's hand without a broker."""

from collections.abc import Callable

from backend.domain.model.trajectory import Decision, Observation


class FakeControl:
    """A person who takes over after this many steps of the agent, carries out a list of actions, and hands back.

    Attributes:
        seen: observations that the person decided on.
        waits: looks that find nothing before each decision; `on_wait` is called for each.
    """

    def __init__(self, *decisions: Decision, after: int = 0, waits: int = 0) -> None:
        self._left = list(decisions)
        self._after = after
        self._waits = waits
        self._waited = 0
        self._asked = -1
        self.seen: list[Observation] = []
        self.on_wait: Callable[[], None] = lambda: None

    def is_active(self) -> bool:
        self._asked += 1
        return self._asked >= self._after and bool(self._left or self._waited < self._waits)

    def decide(self, observation: Observation, seconds: float) -> Decision | None:  # noqa: ARG002
        self.on_wait()
        if self._waited < self._waits:
            self._waited += 1
            return None
        self._waited = 0 if self._left[1:] else self._waits
        self.seen.append(observation)
        return self._left.pop(0)
