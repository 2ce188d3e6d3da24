"""Use of models."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Json, JsonList


class ModelUsage(Base):
    """One worker process's (`source`) requests to a model in five minutes: a `UsagePeriod`."""

    __tablename__ = "model_usage"

    started_at: Mapped[datetime] = mapped_column(primary_key=True)
    source: Mapped[UUID] = mapped_column(primary_key=True)
    endpoint: Mapped[str] = mapped_column(primary_key=True)
    model: Mapped[str] = mapped_column(primary_key=True)
    answered: Mapped[int]
    gave_up: Mapped[int]
    errors: Mapped[Json]
    input_tokens: Mapped[int]
    cached_tokens: Mapped[int]
    output_tokens: Mapped[int]
    usd: Mapped[float]
    unpriced: Mapped[int]
    wait_seconds: Mapped[float]
    latencies: Mapped[JsonList]
    last_answer_at: Mapped[datetime | None]
    last_error_at: Mapped[datetime | None]
    last_error: Mapped[str] = mapped_column(server_default=text("''"))
