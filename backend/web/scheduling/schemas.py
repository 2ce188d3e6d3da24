"""REST schemas of signals."""

from pydantic import Field

from backend.services.read_model import ReadModel


class ProviderSignals(ReadModel):
    """Signals of one provider."""

    waiting: dict[str, int] = Field(
        description="Episodes by why they wait: `ready` (for a slot), `later`, `held`, `paused`."
    )
    oldest_wait_seconds: float = Field(description="For how long the oldest ready episode has been waiting.")
    running: int = Field(description="Attempts under way.")
    desktops_wanted: int = Field(description="Attempts under way, and episodes that only slots keep from beginning.")
    slots: dict[str, int] = Field(description="Slots that are `free`, `leased` or `closed`.")
    leases_per_second: float = Field(description="Over the last minute.")


class SignalsView(ReadModel):
    """Signals for scaling workers."""

    providers: dict[str, ProviderSignals] = Field(default={})
    lost_last_hour: dict[str, int] = Field(default={}, description="Lost attempts by failure class.")
