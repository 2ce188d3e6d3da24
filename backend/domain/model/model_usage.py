"""Requests to one model at one endpoint in five minutes, by one worker process."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from pydantic import Field

from backend.domain.model.task import Frozen

PERIOD = 300
"""Seconds of one row."""


def period_of(at: datetime) -> datetime:
    """Start of the period of a moment."""
    seconds = int(at.timestamp())
    return datetime.fromtimestamp(seconds - seconds % PERIOD, tz=UTC)


class UsagePeriod(Frozen):
    """Counts of one period.

    Attributes:
        answered: requests with a usable reply.
        gave_up: calls that ended without a reply.
        errors: failed requests by kind (`HTTP 429`, `timeout`, `connection`, `invalid reply`, `other`).
        unpriced: replies whose model has no price.
        wait_seconds: of answered calls, beyond the time in which the model worked on its reply.
        latencies: of answered requests, as classes of `backend.domain.statistics.latencies`.
        last_error: the API's words.
    """

    endpoint: str = Field(max_length=100)
    model: str = Field(max_length=200)
    started_at: datetime
    answered: int = 0
    gave_up: int = 0
    errors: Mapping[str, int] = {}
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0
    unpriced: int = 0
    wait_seconds: float = 0.0
    latencies: Sequence[int] = ()
    last_answer_at: datetime | None = None
    last_error_at: datetime | None = None
    last_error: str = Field(default="", max_length=500)
