"""Two runs on the same tasks: which one scores higher, and could chance alone explain it?"""

from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from backend.domain.model.score import is_solved
from backend.domain.statistics.intervals import LEVEL
from backend.domain.statistics.paired import MCNEMAR, Difference, Pair, detectable_difference, difference
from backend.domain.statistics.permutation import FLIPS, sign_flip

SIGN_FLIP = "exact sign-flip permutation test"
SIGN_FLIP_DRAWN = f"sign-flip permutation test ({FLIPS:,} draws)"


class TaskScores(NamedTuple):
    """Scores in [0, 1] of one task's passes in two runs, one or more on each side."""

    task: str
    base: Sequence[float]
    other: Sequence[float]

    @property
    def means(self) -> Pair:
        return Pair(self.task, fmean(self.base), fmean(self.other))

    @property
    def solve_rates(self) -> Pair:
        return Pair(self.task, fmean(map(is_solved, self.base)), fmean(map(is_solved, self.other)))


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
    if not tasks:
        return None
    means, rates = [task.means for task in tasks], [task.solve_rates for task in tasks]
    differences = [pair.other - pair.base for pair in means]
    result = sign_flip(differences, seed=seed)
    single = all(len(task.base) == len(task.other) == 1 for task in tasks)
    binary = single and all(value in {-1.0, 0.0, 1.0} for value in differences)
    return TaskComparison(
        tasks=len(tasks),
        success=difference(rates, level),
        score=difference(means, level),
        worse=sum(pair.other < pair.base for pair in rates),
        better=sum(pair.other > pair.base for pair in rates),
        p_value=result.two_sided,
        test=MCNEMAR if binary else SIGN_FLIP if result.exact else SIGN_FLIP_DRAWN,
        regression_p=result.less,
        detectable=detectable_difference(differences),
    )
