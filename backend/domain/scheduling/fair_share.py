"""Fair shares: who gets the next slot."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

LAG_SECONDS = 20.0
"""Slot-seconds of recent deficit or surplus that equal one slot."""
_K = TypeVar("_K")


@dataclass(frozen=True)
class ShareHolder:
    """One of those who share.

    Attributes:
        weight: above 0; one of weight 2 is due twice as much as one of weight 1.
        in_use: slots that it has.
        used: slot-seconds lately (`decay_usage`).
    """

    weight: float
    in_use: int
    used: float


def deficits(sharers: Mapping[_K, ShareHolder]) -> dict[_K, float]:
    """By how many slots each has less than it is due; who lacks most is next.

    With n slots in use by all of them and one to give, i is due w_i / W of n + 1. Whole slots cannot be divided, so
    what one has been given too little lately is added, one slot at the most: the fraction of a slot goes round in
    turns, shares are right over time though episodes differ in length, and a newcomer never takes more than one slot
    above its share. (Largest remainders, with the remainder kept in slot-seconds.)
    """
    weights = sum(sharer.weight for sharer in sharers.values())
    slots = sum(sharer.in_use for sharer in sharers.values()) + 1
    used = sum(sharer.used for sharer in sharers.values())
    shortfalls = {}
    for key, sharer in sharers.items():
        share = sharer.weight / weights
        lag = (share * used - sharer.used) / LAG_SECONDS
        shortfalls[key] = share * slots - sharer.in_use + max(-1.0, min(1.0, lag))
    return shortfalls
