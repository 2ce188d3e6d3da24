"""A run's scheduling settings, at submission and while it runs."""

from pydantic import BaseModel, ConfigDict, Field

from backend.domain.scheduling.priorities import HIGHEST, LOWEST

MOST_AT_ONCE = 100_000
MOST_SPENT, MOST_TOKENS = 10**9, 10**15


class SchedulingUpdate(BaseModel):
    """Changeable fields of an active run; none affects its measurements. Omitted fields stay.

    Attributes:
        priority: -10 to 10.
        concurrency: maximum concurrent episodes; None = no limit.
        run_usd, run_tokens, run_desktop_hours: what the whole run may spend (`services.runs.budgets`); None = no limit.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    priority: int = Field(default=0, ge=LOWEST, le=HIGHEST)
    concurrency: int | None = Field(default=None, ge=1, le=MOST_AT_ONCE)
    run_usd: float | None = Field(default=None, ge=0, le=MOST_SPENT, allow_inf_nan=False)
    run_tokens: int | None = Field(default=None, ge=0, le=MOST_TOKENS)
    run_desktop_hours: float | None = Field(default=None, ge=0, le=MOST_SPENT, allow_inf_nan=False)
