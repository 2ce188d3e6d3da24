"""The priority of a run, and how waiting raises it."""

LOWEST, NORMAL, HIGHEST = -10, 0, 10
"""A run of a higher priority gets every slot that it can use before one of a lower."""
AGING_SECONDS = 600.0
"""A run that has no slot and gets none for so long counts as one priority higher, until it gets one."""


def effective(priority: int, idle_seconds: float) -> int:
    """The priority that a run has after that number of seconds without a turn; never above HIGHEST.

    So a run that could use a slot waits (HIGHEST - priority) * AGING_SECONDS at most until it shares fairly with the
    most urgent ones: 200 minutes from the lowest priority, 100 from the normal one.
    """
    return min(HIGHEST, priority + int(max(0.0, idle_seconds) // AGING_SECONDS))
