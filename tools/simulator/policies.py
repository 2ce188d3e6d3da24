"""Other schedulers' policies for a benchmark's tasks, computed from durations alone, without overhead."""

import heapq
from collections.abc import Sequence
from itertools import pairwise


def lower_bound(seconds: Sequence[float], slots: int) -> float:
    """No schedule ends earlier: neither before its longest task nor before all slots have worked all the time."""
    return max(*seconds, sum(seconds) / slots)


def static_slices(seconds: Sequence[float], slots: int) -> float:
    """The end of the last slot where each gets a slice of the list beforehand, as WAA does.

    Source: `src/win-arena-container/client/run.py` of WindowsAgentArena: `len // workers` tasks in a row for each
    worker, the first `len % workers` of them one more.
    """
    per_slot, extra = divmod(len(seconds), slots)
    starts = [slot * per_slot + min(slot, extra) for slot in range(slots + 1)]
    return max(sum(seconds[start:end]) for start, end in pairwise(starts))


def first_come(seconds: Sequence[float], slots: int) -> float:
    """The end of the last slot where all take the next task of one list, in its order, as OSWorld does.

    Source: `scripts/python/run_multienv.py` of OSWorld: one queue of (domain, example) in the file's order, from which
    the processes take.
    """
    free = [0.0] * slots
    for task in seconds:
        heapq.heapreplace(free, free[0] + task)
    return max(free)


def longest_first(seconds: Sequence[float], slots: int, expected: Sequence[float] = ()) -> float:
    """Makespan with the longest task first: by what is expected of each, else as if every length were known (LPT).

    Source: R. L. Graham, "Bounds on multiprocessing timing anomalies", SIAM J. Appl. Math. 17 (1969): at most 4/3 of
    the best where the lengths are known.
    """
    order = sorted(range(len(seconds)), key=lambda at: -(expected or seconds)[at])
    return first_come([seconds[at] for at in order], slots)
