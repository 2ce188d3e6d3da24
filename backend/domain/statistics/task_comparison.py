"""Two runs on the same tasks: which one scores higher, and could chance alone explain it?"""

from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from backend.domain.model.score import is_solved
from backend.domain.statistics.intervals import LEVEL
from backend.domain.statistics.paired import MCNEMAR, Difference, detectable_difference, difference_of_columns
from backend.domain.statistics.permutation import FLIPS, sign_flip

SIGN_FLIP = "exact sign-flip permutation test"
SIGN_FLIP_DRAWN = f"sign-flip permutation test ({FLIPS:,} draws)"


class TaskScores(NamedTuple):
    """Scores in [0, 1] of one task's passes in two runs, one or more on each side."""

    task: str
    base: Sequence[float]
    other: Sequence[float]


class PairedColumns(NamedTuple):
    """Common tasks of two runs, each array of shape (tasks,).

    Attributes:
        base, other: mean scores over the passes of each task.
        base_solved, other_solved: shares of its passes that solved it.
        single: each task has one pass on each side.
    """

    base: NDArray[np.float64]
    other: NDArray[np.float64]
    base_solved: NDArray[np.float64]
    other_solved: NDArray[np.float64]
    single: bool


class TaskComparison(NamedTuple):
    """The other run minus the base, each task counting once.

    Attributes:
        tasks: common tasks.
        success, score: differences of success rate and mean score.
        worse, better: tasks whose solve rate is lower or higher in the other run.
        p_value: of `test`, two-sided, that scores are as likely either way round.
        regression_p: of the same test, one-sided, that the other run is not worse.
        detectable: the smallest difference of the mean score that these tasks would show with 80 % power.
    """

    tasks: int
    success: Difference
    score: Difference
    worse: int
    better: int
    p_value: float
    test: str
    regression_p: float
    detectable: float | None


def compare_tasks(tasks: Sequence[TaskScores], *, level: float = LEVEL, seed: int = 0) -> TaskComparison | None:
    """Compares two runs over their common tasks; None without one. Neither order nor names of tasks matter.

    Args:
        tasks: common tasks, each once.
        level: confidence of intervals.
        seed: of the permutation test's draws, where it cannot count.
    """
    sides = [[(fmean(scores), fmean(map(is_solved, scores))) for scores in side]
             for side in ([task.base for task in tasks], [task.other for task in tasks])]  # fmt: skip
    (base, base_solved), (other, other_solved) = (np.array(side, dtype=float).reshape(-1, 2).T for side in sides)
    single = all(len(task.base) == len(task.other) == 1 for task in tasks)
    return compare_columns(PairedColumns(base, other, base_solved, other_solved, single), level=level, seed=seed)


def compare_columns(tasks: PairedColumns, *, level: float = LEVEL, seed: int = 0) -> TaskComparison | None:
    """The same as `compare_tasks` for many tasks at once."""
    if not len(tasks.base):
        return None
    differences = tasks.other - tasks.base
    result = sign_flip(differences.tolist(), seed=seed)
    binary = tasks.single and bool(np.isin(differences, (-1.0, 0.0, 1.0)).all())
    return TaskComparison(
        tasks=len(differences),
        success=difference_of_columns(tasks.base_solved, tasks.other_solved, level),
        score=difference_of_columns(tasks.base, tasks.other, level),
        worse=int(np.count_nonzero(tasks.other_solved < tasks.base_solved)),
        better=int(np.count_nonzero(tasks.other_solved > tasks.base_solved)),
        p_value=result.two_sided,
        test=MCNEMAR if binary else SIGN_FLIP if result.exact else SIGN_FLIP_DRAWN,
        regression_p=result.less,
        detectable=detectable_difference(differences),
    )
