"""Outages of the broker or the API during which no external agent could act."""

import time

from backend.domain.errors import ClusterLost

BROKER, API = "the broker is unavailable", "the API is unavailable"
API_PATIENCE = 600.0
"""Seconds for which an attempt tolerates an unavailable API: deploying a new release may take time."""
GAP_SECONDS = 5.0
"""After a longer gap between two checks it is unknown whether the outage continued."""


class ChannelOutages:
    """Outages of one channel. One thread records; others may read the total."""

    def __init__(self, patience: float) -> None:
        """Args: patience: seconds for which the broker may be unavailable."""
        self._patience = {BROKER: patience, API: API_PATIENCE}
        self._why, self._since, self._noted_at, self._before = "", 0.0, 0.0, 0.0
        self.unheard = ""
        """The unavailable channel, if the agent has not been heard from since."""

    def seconds(self) -> float:
        """Total seconds of outages so far."""
        reason, since = self._why, self._since
        return self._before + (time.monotonic() - since if reason else 0.0)

    def note(self, reason: str) -> bool:
        """Records what is unavailable now (empty = nothing); returns whether an outage has just begun.

        Raises:
            ClusterLost: The outage lasts too long.
        """
        now = time.monotonic()
        began = bool(reason) and not self._why
        if self._why and not reason:
            self._before, self._why = self._before + now - self._since, ""
        elif reason and (reason != self._why or now - self._noted_at > GAP_SECONDS):
            self._before, self._why, self._since = self.seconds(), reason, now
        self._noted_at = now
        self.unheard = reason or self.unheard
        if reason and now - self._since > self._patience[reason]:
            raise ClusterLost(f"{reason}: external agents cannot act on the desktop", code="agent_channel_down")
        return began

    def end_outage(self) -> None:
        """Records that the agent was heard from."""
        self.unheard = ""
