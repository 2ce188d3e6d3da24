"""A run's scheduling settings, at submission and while it runs."""

from pydantic import BaseModel, ConfigDict, Field

from backend.domain.scheduling.priorities import HIGHEST, LOWEST

MOST_AT_ONCE = 100_000


class SchedulingUpdate(BaseModel):
    """What may change while a run is active; nothing that it measures. Omitted fields stay.

    Attributes:
        priority: -10 to 10.
        concurrency: maximum concurrent episodes; None = no limit.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    priority: int = Field(default=0, ge=LOWEST, le=HIGHEST)
    concurrency: int | None = Field(default=None, ge=1, le=MOST_AT_ONCE)
