"""When nobody outside could act, because the broker or the API was away: how long, and whether anybody came back."""

import time

from backend.domain.errors import ClusterLost

BROKER, API = "the broker is away", "the API is away"
API_PATIENCE = 600.0
"""Seconds for which an attempt waits for an API: a new release may take its time."""
GAP_SECONDS = 5.0
"""Who did not look for so long does not know whether the outage went on."""


class ChannelOutages:
    """Of one line. For one thread that notes; others may ask how long it was."""

    def __init__(self, patience: float) -> None:
        """None yet. Args: patience: seconds that the broker may be away."""
        self._patience = {BROKER: patience, API: API_PATIENCE}
        self._why, self._since, self._noted_at, self._before = "", 0.0, 0.0, 0.0
        self.unheard = ""
        """What was away, if who acts was not heard of since."""

    def seconds(self) -> float:
        """How long it was in all, up to now."""
        why, since = self._why, self._since
        return self._before + (time.monotonic() - since if why else 0.0)

    def note(self, why: str) -> bool:
        """Notes what is away now, empty if nothing is; whether that has just begun.

        Raises:
            ClusterLost: it is so for too long.
        """
        now = time.monotonic()
        began = bool(why) and not self._why
        if self._why and not why:
            self._before, self._why = self._before + now - self._since, ""
        elif why and (why != self._why or now - self._noted_at > GAP_SECONDS):
            self._before, self._why, self._since = self.seconds(), why, now
        self._noted_at = now
        self.unheard = why or self.unheard
        if why and now - self._since > self._patience[why]:
            raise ClusterLost(f"{why}: nobody outside can act on the desktop", code="agent_channel_down")
        return began

    def heard(self) -> None:
        """Who acts was heard of."""
        self.unheard = ""
