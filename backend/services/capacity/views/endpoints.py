"""Model endpoints: whether they answer, how fast, what they cost, and who waits for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.repositories.capacity import leases
from backend.services.capacity.model_usage import UsageSum, usage_since
from backend.services.capacity.worker_offers import ModelView, models_of, offers_of_workers
from backend.services.read_model import ReadModel

WINDOWS = {
    "1h": timedelta(hours=1),
    "6h": timedelta(hours=6),
    "24h": timedelta(hours=24),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}


class EndpointState(StrEnum):
    """Whether an endpoint can be used now.

    `ANSWERING`: its last request was answered, or it listed its models just now. `FAILING`: its last request failed.
    `SILENT`: it did not list its models just now. `UNTRIED`: it is set up, and was not asked in the chosen time.
    """

    ANSWERING = "answering"
    FAILING = "failing"
    SILENT = "not responding"
    UNTRIED = "set up, not used"
    NOT_SET_UP = "not set up"
    REMOVED = "no longer set up"


class ModelUsageView(ReadModel):
    """Requests to one model at one endpoint in the chosen time."""

    model: str
    answered: int = Field(description="Requests with a usable reply.")
    failed: int = Field(description="Failed requests; most are retried.")
    gave_up: int = Field(description="Calls that ended without a reply.")
    errors: dict[str, int] = Field(description="Failed requests by kind.", examples=[{"HTTP 429": 12, "timeout": 1}])
    p50_seconds: float | None = Field(description="Median latency of answered requests, within 9 %.")
    p95_seconds: float | None = Field(description="95th percentile, within 9 %.")
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    usd: float
    unpriced: int = Field(description="Replies of models without a price; not included in `usd`.")
    wait_seconds: float = Field(description="Time spent on rate limits and failures, of answered calls.")
    last_answer_at: datetime | None
    last_error_at: datetime | None
    last_error: str = Field(description="The API's words.")

    @property
    def error_share(self) -> float | None:
        """Failed requests among all."""
        total = self.answered + self.failed
        return self.failed / total if total else None


class EndpointWait(ReadModel):
    """A running attempt that waits for a model."""

    model: str
    words: str = Field(description="The API's last error message; empty without one.")
    since: datetime
    retry_at: datetime | None
    run_id: UUID
    episode_id: UUID


class EndpointView(ReadModel):
    """A model endpoint with its use in the chosen time."""

    name: str
    api: str
    state: EndpointState
    reason: str = Field(description="Address, or what is missing.")
    workers: tuple[str, ...] = Field(description="Workers that can use it.")
    models: list[ModelUsageView]
    waits: list[EndpointWait]

    @property
    def last_error(self) -> ModelUsageView | None:
        """The model with the newest error."""
        failed = [(model.last_error_at, model) for model in self.models if model.last_error_at is not None]
        return max(failed, key=lambda failure: failure[0])[1] if failed else None


@dataclass(frozen=True)
class EndpointsPage:
    """Content of the page."""

    window: str
    endpoints: list[EndpointView]

    @property
    def totals(self) -> ModelUsageView:
        """All models together."""
        models = [model for endpoint in self.endpoints for model in endpoint.models]
        total = _usage_view(UsageSum("", ""))
        names = ("answered", "failed", "gave_up", "input_tokens", "cached_tokens", "output_tokens", "usd", "unpriced")
        return total.model_copy(update={name: sum(getattr(model, name) for model in models) for name in names})


def endpoints_page(session: Session, window: str) -> EndpointsPage:
    """All endpoints: set up ones first, then those that only the past knows.

    Args:
        session: the transaction.
        window: one of `WINDOWS`.
    """
    offers = models_of(offers_of_workers(session))
    sums: dict[str, list[UsageSum]] = {}
    for usage in usage_since(session, WINDOWS[window]):
        sums.setdefault(usage.endpoint, []).append(usage)
    waits = live_waits(session)
    names = {offer.name for offer in offers}
    gone = [ModelView(name, "", ok=False, reason="", workers=()) for name in sorted({*sums, *waits} - names)]
    views = [
        _endpoint(offer, sums.get(offer.name, []), waits.get(offer.name, []), known=offer.name in names)
        for offer in [*offers, *gone]
    ]
    return EndpointsPage(window, views)


def live_waits(session: Session) -> dict[str, list[EndpointWait]]:
    """Attempts that wait for a model now, by endpoint, the longest wait first."""
    waits: dict[str, list[EndpointWait]] = {}
    for row in leases.model_waits(session):
        stored = row.model_wait
        wait = EndpointWait(**{**stored, "run_id": row.run_id, "episode_id": row.episode_id})
        waits.setdefault(stored["endpoint"], []).append(wait)
    return {name: sorted(items, key=lambda wait: wait.since) for name, items in waits.items()}


def _endpoint(offer: ModelView, sums: Sequence[UsageSum], waits: list[EndpointWait], *, known: bool) -> EndpointView:
    return EndpointView(
        name=offer.name,
        api=offer.api,
        state=_state(offer, sums, waits, known=known),
        reason=offer.reason,
        workers=offer.workers,
        models=[_usage_view(usage) for usage in sums],
        waits=waits,
    )


def _state(offer: ModelView, sums: Sequence[UsageSum], waits: Sequence[EndpointWait], *, known: bool) -> EndpointState:
    answer = max((usage.last_answer_at for usage in sums if usage.last_answer_at), default=None)
    error = max((usage.last_error_at for usage in sums if usage.last_error_at), default=None)
    if not known:
        return EndpointState.REMOVED
    if not offer.ok:
        return EndpointState.NOT_SET_UP
    if offer.answers is False:
        return EndpointState.SILENT
    if any(wait.words for wait in waits) or (error and (answer is None or error > answer)):
        return EndpointState.FAILING
    return EndpointState.ANSWERING if answer or offer.answers else EndpointState.UNTRIED


def _usage_view(usage: UsageSum) -> ModelUsageView:
    return ModelUsageView(
        model=usage.model,
        answered=usage.answered,
        failed=usage.failed,
        gave_up=usage.gave_up,
        errors=dict(usage.errors.most_common()),
        p50_seconds=usage.seconds(0.5),
        p95_seconds=usage.seconds(0.95),
        input_tokens=usage.input_tokens,
        cached_tokens=usage.cached_tokens,
        output_tokens=usage.output_tokens,
        usd=usage.usd,
        unpriced=usage.unpriced,
        wait_seconds=usage.wait_seconds,
        last_answer_at=usage.last_answer_at,
        last_error_at=usage.last_error_at,
        last_error=usage.last_error,
    )
