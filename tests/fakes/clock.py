"""A clock that goes only when somebody sleeps."""


class FakeClock:
    """Time that passes by `sleep` and `advance` alone."""

    def __init__(self, start: float = 1000.0) -> None:
        self._now = start

    def now(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> None:
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        """Lets time pass."""
        self._now += max(0.0, seconds)
