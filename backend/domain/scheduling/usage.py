"""Recent slot usage: slot-seconds with exponential decay."""

import math

HALF_LIFE = 3600.0
"""Seconds after which a slot-second counts half (Slurm's fair share calls it PriorityDecayHalfLife)."""
RATE = math.log(2.0) / HALF_LIFE
"""The decay constant k, per second."""


def decay_usage(used: float, in_use: int, seconds: float) -> float:
    """Slot-seconds as they count now.

    With the decay constant k, U(t) = U * exp(-k t) + n * (1 - exp(-k t)) / k: what was used before
    fades, and n slots in use add one slot-second each per second, which fade, too.

    Args:
        used: as they counted at the last look.
        in_use: slots in use since then.
        seconds: since then; a clock that went back counts as no time.
    """
    share = math.exp(-RATE * max(0.0, seconds))
    return used * share + in_use * (1.0 - share) / RATE
