"""How a run shares in the slots, as it is asked for: when it is submitted, and while it goes on."""

from pydantic import BaseModel, ConfigDict, Field

from backend.domain.scheduling.priorities import HIGHEST, LOWEST

MOST_AT_ONCE = 100_000


class SchedulingUpdate(BaseModel):
    """What may change of a run while it goes on: nothing of what it measures. What is not given stays.

    Attributes:
        priority: -10 to 10.
        concurrency: its simultaneous episodes at most; None = no limit of its own.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    priority: int = Field(default=0, ge=LOWEST, le=HIGHEST)
    concurrency: int | None = Field(default=None, ge=1, le=MOST_AT_ONCE)
