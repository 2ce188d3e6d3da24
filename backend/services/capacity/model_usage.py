"""Use of models by endpoint: stored by workers, summed for pages."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import ModelUsage
from backend.db.repositories.capacity import model_usage as repository
from backend.db.repositories.capacity import workers
from backend.domain.model.model_usage import UsagePeriod
from backend.domain.statistics.latencies import add_histograms, quantile

RETENTION = timedelta(days=400)
_NUMBERS = (
    "answered", "gave_up", "input_tokens", "cached_tokens", "output_tokens", "usd", "unpriced", "wait_seconds",
)  # fmt: skip


@dataclass(frozen=True)
class UsageSum:
    """One model at one endpoint over a time. `last_error` is its newest; fields as in `UsagePeriod`."""

    endpoint: str
    model: str
    answered: int = 0
    gave_up: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0
    unpriced: int = 0
    wait_seconds: float = 0.0
    latencies: Sequence[int] = ()
    last_answer_at: datetime | None = None
    last_error_at: datetime | None = None
    last_error: str = ""

    @property
    def failed(self) -> int:
        """Failed requests."""
        return self.errors.total()

    def seconds(self, share: float) -> float | None:
        """Quantile of the latency of answered requests."""
        return quantile(self.latencies, share)

    def plus(self, row: ModelUsage) -> "UsageSum":
        """The sum with a period."""
        newer = row.last_error_at is not None and (self.last_error_at is None or row.last_error_at > self.last_error_at)
        error = row if newer else self
        return replace(
            self,
            **{name: getattr(self, name) + getattr(row, name) for name in _NUMBERS},
            errors=self.errors + Counter(row.errors),
            latencies=add_histograms(self.latencies, row.latencies),
            last_answer_at=max(filter(None, (self.last_answer_at, row.last_answer_at)), default=None),
            last_error_at=error.last_error_at,
            last_error=error.last_error,
        )


def record(session: Session, source: UUID, rows: Sequence[UsagePeriod]) -> None:
    """Stores periods of a worker process. Safe to call twice: each row has all of its period."""
    repository.put(session, source, rows)


def usage_since(session: Session, duration: timedelta) -> list[UsageSum]:
    """Sums of the last while, by endpoint and model. It starts with a whole period of five minutes."""
    sums: dict[tuple[str, str], UsageSum] = {}
    for row in repository.since(session, workers.now(session) - duration):
        key = (row.endpoint, row.model)
        sums[key] = sums.get(key, UsageSum(*key)).plus(row)
    return [sums[key] for key in sorted(sums)]


def prune(session: Session) -> None:
    """Deletes what is older than `RETENTION`."""
    repository.delete_before(session, workers.now(session) - RETENTION)
