"""Several passes over the same tasks: pooled means, pass@k and pass^k, tasks being what is drawn."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np

from backend.domain.statistics.intervals import LEVEL, Interval, cluster_mean_of_columns

EXTREMES = 0.05
"""Weight of two imagined tasks, one solved always and one never, in the variance of pass@k and pass^k (ours)."""


class Estimate(NamedTuple):
    """A mean over tasks with its interval."""

    value: float
    interval: Interval
    tasks: int


def value_and_ends(estimate: Estimate | None) -> list[float] | None:
    """The value and both ends of its interval, as they are stored."""
    return None if estimate is None else [estimate.value, *estimate.interval]


def pass_at_k(n: int, solved: int, k: int) -> float:
    """Probability that at least one of k passes solves the task: 1 - C(n - solved, k) / C(n, k), without bias.

    Source: M. Chen et al., "Evaluating large language models trained on code", arXiv 2107.03374 (2021), equation 1.

    Args:
        n: passes of the task.
        solved: those that solved it.
        k: 1 to n.
    """
    _check(n, solved, k)
    return 1 - math.comb(n - solved, k) / math.comb(n, k)


def pass_hat_k(n: int, solved: int, k: int) -> float:
    """pass^k: probability that each of k passes solves the task, C(solved, k) / C(n, k), without bias.

    Source: S. Yao et al., "tau-bench: a benchmark for tool-agent-user interaction in real-world domains",
    arXiv 2406.12045 (2024), section 3.

    Args:
        n: passes of the task.
        solved: those that solved it.
        k: 1 to n.
    """
    _check(n, solved, k)
    return math.comb(solved, k) / math.comb(n, k)


def _check(n: int, solved: int, k: int) -> None:
    if not (0 <= solved <= n and 1 <= k <= n):
        raise ValueError(f"k = {k} of {n} passes, {solved} of them solved")


def pool(tasks: Sequence[Sequence[float]], level: float = LEVEL) -> Estimate | None:
    """Mean over tasks of the means over their passes; tasks without a pass are left out.

    Args:
        tasks: scores in [0, 1] of each task's passes.
        level: confidence, in (0, 1).
    """
    return over_tasks([mean_score(scores) for scores in tasks if scores], level)


def mean_score(scores: Sequence[float]) -> float:
    """Mean over the passes of a task, at least one. Most tasks have one: of 25,000, that is asked in a request."""
    return scores[0] if len(scores) == 1 else fmean(scores)


def over_passes(
    tasks: Iterable[tuple[int, int]], k: int, rule: Callable[[int, int, int], float], level: float = LEVEL
) -> Estimate | None:
    """Mean over tasks of `pass_at_k` or `pass_hat_k`; tasks with fewer than k passes are left out.

    For 1 < k < passes most tasks have the value 0 or 1 and few one between them, which may be all of 0.1: their
    variance alone covers the truth in 89 % of boards of 30 tasks and ten passes. So `EXTREMES` is added to it.

    Args:
        tasks: number of passes of each task, and of those that solved it.
        k: 1 or more.
        rule: one of the two.
        level: confidence, in (0, 1).
    """
    # Few of 25,000 tasks differ in these numbers.
    numbers = Counter((n, solved) for n, solved in tasks if n >= k)
    values = [value for (n, solved), times in numbers.items() for value in [rule(n, solved, k)] * times]
    return over_tasks(values, level, extremes=EXTREMES if k > 1 else 0.0)


def over_tasks(values: Sequence[float], level: float = LEVEL, *, extremes: float = 0.0) -> Estimate | None:
    """Mean of one value in [0, 1] per task; None without tasks. `extremes`: see `cluster_mean_of_columns`."""
    column = np.array(values, dtype=float)
    interval = cluster_mean_of_columns(np.ones(len(values)), column, level=level, extremes=extremes)
    return Estimate(fmean(values), interval, len(values)) if interval is not None else None
