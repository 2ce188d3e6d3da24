"""Estimated start of an episode that only waits for its turn in its run."""

from collections.abc import Sequence


def starts_in(ahead: int, seconds: float, remaining: Sequence[float], at_once: int) -> float | None:
    """Seconds until it starts at the latest, if episodes take the expected time and the run keeps its slots.

    No slot of the run is empty before: so that all of them are busy with what comes first. It is also over once enough
    of the run's episodes have ended to make room.

    Args:
        ahead: waiting episodes of its run that come first.
        seconds: that these should take together.
        remaining: seconds that each of the run's episodes under way should still take; 0 = longer than expected.
        at_once: episodes that the run can have under way.

    Returns:
        None where the run has no slot or may have none, and where something has to end first that takes longer than
        expected: then it is unknown.
    """
    slots = min(len(remaining), at_once)
    if slots <= 0:
        return None
    ends, estimate = sorted(remaining), (sum(remaining) + seconds) / slots
    index = len(ends) - slots + ahead
    if index < len(ends):
        estimate = min(estimate, ends[index])
    return estimate or None
