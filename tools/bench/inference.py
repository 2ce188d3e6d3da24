"""`make bench-statistics`: coverage of intervals and error rates of the paired test, by simulation.

Writes docs/reports/statistics.md; ends with 1 if an interval covers the truth in less than 94 % or more than 96 % of
boards, the test of `--baseline` raises a false alarm in less than 3 % or more than 6 % of pairs, a regression of 20
points is found in less than 95 %, or two episodes of 500 steps take longer than 200 ms to align. With `--boards N` or
`--pairs N` it draws fewer and writes nothing.
"""

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from backend.domain.statistics.alignment import AlignedStep, align
from backend.domain.statistics.intervals import Interval, effective_wilson, wilson
from backend.domain.statistics.passes import EXTREMES, pass_at_k, pass_hat_k
from backend.domain.statistics.task_comparison import TaskScores, compare_tasks
from tools.bench.figures import machine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reports" / "statistics.md"
TASKS, PASSES = (30, 60, 154, 400), (1, 2, 3, 4, 5)
BOARDS, PAIRS, ALPHA = 25_000, 2_000, 0.05
CHUNK = 1_000

COVERAGE, FALSE_ALARMS, LEAST_POWER, MOST_MS = (0.94, 0.96), (0.03, 0.06), 0.95, 200.0
SPREAD = 1.5
"""Sum of the parameters of the Beta distribution of tasks' solve rates: most tasks are easy or hard."""
SHARPNESS = 3.0
"""Sum of the parameters of the Beta distribution of a task's fractional scores around its rate."""
STEPS, ALIGNMENTS = 500, 9
HEAD = """# Statistics

Measured by `make bench-statistics`, which writes this page. Each simulated board draws an agent's true rate (5 % to
95 %), then tasks with a Beta distribution around it, most of them easy or hard, then each task's passes: solved or not,
or a fraction. The intervals are those of the product, at 95 %, with tasks as what is drawn; coverage is the share of
boards whose interval holds the truth. A board's rate is drawn anew each time: at one fixed rate, the coverage of any
interval of whole numbers goes up and down with that rate.

"""


@dataclass(frozen=True)
class SimulatedShare:
    """A share of simulated cases, and the bounds that it must lie in."""

    what: str
    tasks: int
    passes: int
    values: str
    share: float
    bounds: tuple[float, float]

    @property
    def met(self) -> bool:
        return self.bounds[0] <= self.share <= self.bounds[1]

    def row(self) -> str:
        low, high = self.bounds
        aim = f"{low:.0%} to {high:.0%}" if high < 1 else f"at least {low:.0%}"
        word = "met" if self.met else "missed"
        return f"| {self.what} | {self.tasks} | {self.passes} | {self.values} | {self.share:.1%} | {aim} ({word}) |"


def main() -> int:
    """Simulates, writes the page; the exit code tells whether the targets were met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=BOARDS)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    options = parser.parse_args()
    shares = [*coverages(options.boards), *error_rates(options.pairs)]
    milliseconds = alignment_milliseconds()
    text = page(shares, milliseconds, options.boards, options.pairs)
    if (options.boards, options.pairs) == (BOARDS, PAIRS):
        PAGE.write_text(text)
    sys.stdout.write(text)
    return 0 if all(share.met for share in shares) and milliseconds <= MOST_MS else 1


def coverages(
    boards: int, tasks: Sequence[int] = TASKS, passes: Sequence[int] = PASSES, seed: int = 1
) -> Iterator[SimulatedShare]:
    """Coverage of every kind of interval for each number of tasks and passes."""
    for n in tasks:
        for k in passes:
            for fractional in (False, True):
                draws = np.random.default_rng((seed, n, k, fractional))
                values = "fractions" if fractional else "0 or 1"
                hits: Counter[str] = Counter()
                for start in range(0, boards, CHUNK):
                    hits.update(_hits(draws, n, k, min(CHUNK, boards - start), fractional=fractional))
                for label, number in hits.items():
                    yield SimulatedShare(label, n, k, values, number / boards, COVERAGE)


def _hits(draws: np.random.Generator, n: int, k: int, boards: int, *, fractional: bool) -> dict[str, int]:
    """Of each kind of interval, how many hold the truth of their board."""
    rate = draws.uniform(0.05, 0.95, boards)
    rates = task_rates(draws, rate, n)
    # Another agent on the same tasks: its rates are up to 30 % closer to 0, or to 1.
    share = draws.uniform(-0.3, 0.3, boards)
    changed = rates + np.where(share[:, None] > 0, 1 - rates, rates) * share[:, None]
    truth = np.where(share > 0, 1 - rate, rate) * share
    scores, others = (outcomes(draws, side, k, fractional=fractional) for side in (rates, changed))
    means = scores.mean(axis=2)
    hits = {
        "rate or mean": _number_covered(intervals_of(means), rate),
        "difference": _number_covered(intervals_of(others.mean(axis=2) - means, low=-1.0), truth),
    }
    if not fractional:
        solved = scores.sum(axis=2).astype(int)
        for some in range(2, k + 1):
            for label, rule, value in (
                (f"pass^{some}", pass_hat_k, beta_moment(rate, some)),
                (f"pass@{some}", pass_at_k, 1 - beta_moment(1 - rate, some)),
            ):
                table = np.array([rule(k, number, some) for number in range(k + 1)])
                hits[label] = _number_covered(intervals_of(table[solved], extremes=EXTREMES), value)
    return hits


def intervals_of(values: "Floats", low: float = 0.0, extremes: float = 0.0) -> "Sequence[Interval | None]":
    """The intervals of the means of each row, as `cluster_mean_of_columns` makes them."""
    n = values.shape[1]
    if not low and np.isin(values, (0, 1)).all():
        return [wilson(int(solved), n) for solved in values.sum(axis=1)]
    means, squares = values.mean(axis=1), values.var(axis=1) * n
    imagined = np.where(squares > 0, extremes * ((means - low) ** 2 + (1 - means) ** 2), 0.0)
    errors = np.sqrt((squares + imagined) / (n * (n + 2 * extremes)))
    sums = zip(means.tolist(), errors.tolist(), strict=True)
    return [effective_wilson(mean, error, n, low=low) for mean, error in sums]


def _number_covered(intervals: Sequence[Interval | None], truths: "Floats") -> int:
    pairs = zip(intervals, truths.tolist(), strict=True)
    return sum(interval is not None and interval.low <= truth <= interval.high for interval, truth in pairs)


def task_rates(draws: np.random.Generator, rate: "Floats", n: int) -> "Floats":
    """True solve rates of n tasks of each board, whose mean is the board's in the long run: (boards, n)."""
    return draws.beta(rate[:, None] * SPREAD, (1 - rate[:, None]) * SPREAD, (len(rate), n))


def beta_moment(rate: "Floats", power: int) -> "Floats":
    """Mean of the tasks' true rates to a power, of each board."""
    terms = [(rate * SPREAD + at) / (SPREAD + at) for at in range(power)]
    return np.prod(terms, axis=0)  # type: ignore[no-any-return]


def outcomes(draws: np.random.Generator, rates: "Floats", passes: int, *, fractional: bool) -> "Floats":
    """Scores of shape (boards, tasks, passes): 0 or 1 with the task's rate, or fractions with that mean."""
    shape = (*rates.shape, passes)
    if not fractional:
        return (draws.random(shape) < rates[..., None]).astype(float)
    least = 1e-3
    likely, unlikely = (np.maximum(side * SHARPNESS, least)[..., None] for side in (rates, 1 - rates))
    return draws.beta(likely, unlikely, shape)


def error_rates(pairs: int, tasks: int = 154, seed: int = 2) -> Iterator[SimulatedShare]:
    """False alarms of the regression test for equal agents, and how often 20 points less are found."""
    for passes, fractional in ((1, False), (3, False), (1, True), (3, True)):
        draws = np.random.default_rng((seed, passes, fractional))
        rates = task_rates(draws, draws.uniform(0.05, 0.95, pairs), tasks)
        values = "fractions" if fractional else "0 or 1"
        sides = [outcomes(draws, rates, passes, fractional=fractional) for _ in range(2)]
        yield SimulatedShare("false alarm", tasks, passes, values, _alarms(*sides), FALSE_ALARMS)
    for label, alike in (("20 points less", False), ("20 points less, all tasks alike", True)):
        draws = np.random.default_rng((seed, alike))
        drawn = task_rates(draws, draws.uniform(0.4, 0.8, pairs), tasks)
        base = np.full((pairs, tasks), 0.6) if alike else drawn
        less = base * (1 - 0.2 / base.mean(axis=1, keepdims=True))
        sides = [outcomes(draws, rates, 1, fractional=False) for rates in (base, less)]
        yield SimulatedShare(label, tasks, 1, "0 or 1", _alarms(*sides), (LEAST_POWER, 1.0))


def _alarms(base: "Floats", other: "Floats") -> float:
    """Share of the pairs of runs in which the test of `--baseline` finds a regression."""
    alarms = 0
    for base_rows, other_rows in zip(base.tolist(), other.tolist(), strict=True):
        scores = [TaskScores(str(at), *both) for at, both in enumerate(zip(base_rows, other_rows, strict=True))]
        result = compare_tasks(scores)
        alarms += result is not None and result.regression_p <= ALPHA
    return alarms / len(base)


def alignment_milliseconds() -> float:
    """Median time to align two episodes of 500 steps that differ here and there."""
    draw = random.Random(3)
    kinds = ("click", "type", "scroll", "hotkey", "wait")
    first = [
        AlignedStep(draw.choice(kinds), (draw.random(), draw.random()), draw.getrandbits(64)) for _ in range(STEPS)
    ]
    second = [step if draw.random() < 0.8 else draw.choice(first) for step in first]
    times = []
    for _ in range(ALIGNMENTS):
        start = time.perf_counter()
        align(first, second)
        times.append(1000 * (time.perf_counter() - start))
    return median(times)


def page(shares: Sequence[SimulatedShare], milliseconds: float, boards: int, pairs: int) -> str:
    """The figures in Markdown."""
    head = "| what | tasks | passes | scores | share | aim |\n|---|---|---|---|---|---|\n"
    intervals = "\n".join(share.row() for share in shares if share.bounds == COVERAGE)
    tests = "\n".join(share.row() for share in shares if share.bounds != COVERAGE)
    word = "met" if milliseconds <= MOST_MS else "missed"
    return (
        f"{HEAD}Machine: {machine()}. Measured {datetime.now(UTC):%Y-%m-%d %H:%M} UTC.\n\n"
        f"## Intervals\n\n{boards:,} boards each.\n\n{head}{intervals}\n\n"
        f"## The test of `--baseline`\n\n{pairs:,} simulated pairs of runs each, alpha {ALPHA}.\n\n{head}{tests}\n\n"
        f"## Alignment\n\nTwo episodes of {STEPS} steps: {milliseconds:.0f} ms; at most {MOST_MS:.0f} ms ({word}).\n"
    )


if __name__ == "__main__":
    sys.exit(main())
