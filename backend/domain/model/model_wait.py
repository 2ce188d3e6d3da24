"""Wait of an attempt for its model, as the worker's heartbeat reports it."""

from typing import Any

from pydantic import Field

from backend.domain.model.task import Frozen


class ModelWait(Frozen):
    """One call of a model that has no reply yet.

    Attributes:
        call: number of the call within its attempt.
        failures: its failed requests so far.
        seconds: since the call began.
        retry_seconds: until the next request; None while a request is under way or waits for its turn.
        words: the API's last error message; empty without one.
        limited: a rate limit holds it.
    """

    call: int
    endpoint: str = Field(max_length=100)
    model: str = Field(max_length=200)
    failures: int = 0
    seconds: float = Field(default=0.0, ge=0)
    retry_seconds: float | None = Field(default=None, ge=0)
    words: str = Field(default="", max_length=500)
    limited: bool = False

    def same(self, stored: dict[str, Any] | None) -> bool:
        """Whether a stored wait says the same, so that it need not be written again."""
        fields = ("call", "endpoint", "failures", "words", "limited")
        return (
            stored is not None
            and all(stored.get(name) == getattr(self, name) for name in fields)
            and ((stored.get("retry_at") is None) == (self.retry_seconds is None))
        )
