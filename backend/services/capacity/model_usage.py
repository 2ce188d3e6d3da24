"""Use of models by endpoint: stored by workers, summed for pages."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import ModelUsage
from backend.db.repositories.capacity import model_usage as repository
from backend.db.repositories.capacity import workers
from backend.domain.model.model_usage import UsagePeriod
from backend.domain.statistics.latencies import added, quantile

KEPT = timedelta(days=400)


@dataclass
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
    latencies: list[int] = field(default_factory=list)
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

    def add(self, row: ModelUsage) -> None:
        """Adds a period."""
        for name in ("answered", "gave_up", "input_tokens", "cached_tokens", "output_tokens", "unpriced"):
            setattr(self, name, getattr(self, name) + getattr(row, name))
        self.usd += row.usd
        self.wait_seconds += row.wait_seconds
        self.errors.update(row.errors)
        self.latencies = added(self.latencies, row.latencies)
        self.last_answer_at = max(filter(None, (self.last_answer_at, row.last_answer_at)), default=None)
        if row.last_error_at is not None and (self.last_error_at is None or row.last_error_at > self.last_error_at):
            self.last_error_at, self.last_error = row.last_error_at, row.last_error


def record(session: Session, source: UUID, rows: Sequence[UsagePeriod]) -> None:
    """Stores periods of a worker process. Safe to call twice: each row has all of its period."""
    repository.put(session, source, rows)


def usage_since(session: Session, duration: timedelta) -> list[UsageSum]:
    """Sums of the last while, by endpoint and model. It begins with a whole period of five minutes."""
    sums: dict[tuple[str, str], UsageSum] = {}
    for row in repository.since(session, workers.now(session) - duration):
        key = (row.endpoint, row.model)
        sums.setdefault(key, UsageSum(*key)).add(row)
    return [sums[key] for key in sorted(sums)]


def prune(session: Session) -> None:
    """Deletes what is older than `KEPT`."""
    repository.delete_before(session, workers.now(session) - KEPT)
