"""Counts the requests of a worker process to models: replies, errors, latency, tokens, money."""

from collections.abc import Callable
from datetime import UTC, datetime
from threading import Lock
from uuid import UUID, uuid4

from backend.domain.model.model_usage import UsagePeriod, period_of
from backend.domain.model.trajectory import Usage
from backend.domain.statistics.latencies import CLASSES, class_of
from backend.telemetry.metrics import MODEL_ERRORS, MODEL_SECONDS, MODEL_TOKENS, MODEL_USD, model_labels

_MOST_MODELS = 500
"""Names of models come from runs' parameters; more in one period are counted together."""
_OTHERS = "(other models)"


def utc_now() -> datetime:
    """This machine's clock."""
    return datetime.now(UTC)


class UsageMeter:
    """Counts by endpoint, model and period. Thread-safe.

    Attributes:
        source: identifies this process, so that it can write its counts again without adding them twice.
    """

    def __init__(self, now: Callable[[], datetime] = utc_now) -> None:
        self.source: UUID = uuid4()
        self._now = now
        self._rows: dict[tuple[str, str], UsagePeriod] = {}
        self._unwritten: dict[tuple[str, str, datetime], UsagePeriod] = {}
        self._lock = Lock()

    def answered(self, endpoint: str, model: str, seconds: float, usage: Usage) -> None:
        """A call has its reply, whose last request took that many seconds."""
        labels = model_labels(endpoint, model)
        MODEL_SECONDS.labels(*labels).observe(seconds)
        MODEL_USD.labels(*labels).inc(usage.usd)
        MODEL_TOKENS.labels(*labels, "input").inc(usage.input_tokens)
        MODEL_TOKENS.labels(*labels, "cached").inc(usage.cached_tokens)
        MODEL_TOKENS.labels(*labels, "output").inc(usage.output_tokens)
        with self._lock:
            row = self._row(endpoint, model)
            latencies = list(row.latencies) or [0] * CLASSES
            latencies[class_of(seconds)] += 1
            self._put(
                row,
                answered=row.answered + 1,
                input_tokens=row.input_tokens + usage.input_tokens,
                cached_tokens=row.cached_tokens + usage.cached_tokens,
                output_tokens=row.output_tokens + usage.output_tokens,
                usd=row.usd + usage.usd,
                unpriced=row.unpriced + (not usage.priced),
                wait_seconds=row.wait_seconds + usage.wait_seconds,
                latencies=latencies,
                last_answer_at=self._now(),
            )

    def failed(self, endpoint: str, model: str, kind: str, message: str) -> None:
        """A request has failed."""
        MODEL_ERRORS.labels(*model_labels(endpoint, model), kind).inc()
        with self._lock:
            row = self._row(endpoint, model)
            errors = {**row.errors, kind: row.errors.get(kind, 0) + 1}
            self._put(row, errors=errors, last_error=message[:500], last_error_at=self._now())

    def gave_up(self, endpoint: str, model: str) -> None:
        """A call has ended without a reply."""
        with self._lock:
            row = self._row(endpoint, model)
            self._put(row, gave_up=row.gave_up + 1)

    def unwritten(self) -> list[UsagePeriod]:
        """Rows that have changed since they were written, each with its whole period."""
        with self._lock:
            return list(self._unwritten.values())

    def written(self, rows: list[UsagePeriod]) -> None:
        """These rows are stored."""
        with self._lock:
            for row in rows:
                key = (row.endpoint, row.model, row.started_at)
                if self._unwritten.get(key) is row:
                    del self._unwritten[key]

    def _row(self, endpoint: str, model: str) -> UsagePeriod:
        endpoint, model, period = endpoint[:100], model[:200], period_of(self._now())
        if self._rows and next(iter(self._rows.values())).started_at != period:
            self._rows.clear()
        if (endpoint, model) not in self._rows and len(self._rows) >= _MOST_MODELS:
            model = _OTHERS
        return self._rows.get((endpoint, model)) or UsagePeriod(endpoint=endpoint, model=model, started_at=period)

    def _put(self, row: UsagePeriod, **changes: object) -> None:
        fresh = row.model_copy(update=changes)
        self._rows[row.endpoint, row.model] = fresh
        self._unwritten[row.endpoint, row.model, row.started_at] = fresh
