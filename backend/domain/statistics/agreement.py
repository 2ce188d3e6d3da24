"""Agreement of two or more raters. Undefined values are None, never 0."""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from backend.domain.statistics.intervals import LEVEL, RESAMPLES, Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Table = NDArray[np.float64]

Values = Sequence[Hashable]


class Confusion(NamedTuple):
    """Confusion matrix of a judge's and people's yes and no."""

    both: int = 0
    only_judge: int = 0
    only_people: int = 0
    neither: int = 0

    @property
    def n(self) -> int:
        """Things that both have judged."""
        return sum(self)

    @property
    def agreed(self) -> float | None:
        """Share of equal answers."""
        return (self.both + self.neither) / self.n if self.n else None

    @property
    def kappa(self) -> float | None:
        """Cohen's."""
        return cohens_kappa([[self.both, self.only_judge], [self.only_people, self.neither]])


def confusion(pairs: Sequence[tuple[bool, bool]]) -> Confusion:
    """The four counts of (judge, people)."""
    counts = Counter(pairs)
    return Confusion(counts[True, True], counts[True, False], counts[False, True], counts[False, False])


def cohens_kappa(table: Sequence[Sequence[float]]) -> float | None:
    """Cohen's kappa: agreement beyond what two judges with these habits would reach by chance.

    kappa = (p_o - p_e) / (1 - p_e), p_o = share on the diagonal, p_e = sum over categories of the product of both
    judges' shares. Source: J. Cohen, "A coefficient of agreement for nominal scales", Educ. Psychol. Meas. 20 (1960).

    Args:
        table: counts or shares; rows are one judge's categories, columns the other's, in the same order.

    Returns:
        At most 1; None without data, or if all answers are the same.
    """
    total = sum(map(sum, table))
    if not total:
        return None
    rows: list[float] = [sum(row) for row in table]
    columns: list[float] = [sum(column) for column in zip(*table, strict=True)]
    chance = sum(row * column for row, column in zip(rows, columns, strict=True)) / total**2
    if chance >= 1.0:
        return None
    agreed: float = sum(table[at][at] for at in range(len(table))) / total
    return (agreed - chance) / (1 - chance)


def krippendorffs_alpha(units: Sequence[Values]) -> float | None:
    """Krippendorff's alpha for nominal data, any number of judges, gaps allowed.

    alpha = 1 - D_o / D_e. Of a unit with m values each ordered pair of them counts 1 / (m - 1) in the matrix of
    coincidences o; D_o is the share of it off the diagonal, D_e what is expected of the values' numbers n_c:
    1 - sum of n_c (n_c - 1) / (n (n - 1)).

    Source: K. Krippendorff, "Computing Krippendorff's alpha-reliability" (2011).

    Args:
        units: values per item; items with fewer than two are ignored.

    Returns:
        At most 1; None where no unit has two values, or all values are the same.
    """
    kinds = _kinds([units])
    return _alpha_of(*_coincidences(units, kinds)) if kinds else None


def kappa_interval(clusters: Sequence[Confusion], **how: Any) -> Interval | None:
    """Percentile bootstrap of Cohen's kappa over clusters: the criteria of one attempt are alike, so it is drawn whole.

    Args:
        clusters: one per attempt.
        how: `level`, `resamples`, `seed`.

    Returns:
        None for fewer than two clusters, or where draws have no kappa.
    """
    rows = [list(map(float, confusion)) for confusion in clusters if confusion.n]
    return _interval(rows, _kappas, **how)


def alpha_interval(clusters: Sequence[Sequence[Values]], **how: Any) -> Interval | None:
    """Interval of Krippendorff's alpha, by the same draws; each cluster has the units of one attempt."""
    kinds = _kinds(clusters)
    rows = []
    for units in clusters:
        same, numbers = _coincidences(units, kinds)
        if sum(numbers):
            rows.append([sum(same), *numbers])
    return _interval(rows, _alphas, **how)


def _kinds(clusters: Sequence[Sequence[Values]]) -> list[Hashable]:
    return list(dict.fromkeys(value for units in clusters for unit in units if len(unit) > 1 for value in unit))


def _coincidences(units: Sequence[Values], kinds: Sequence[Hashable]) -> tuple[list[float], list[float]]:
    """By kind of value: its coincidences with itself, and how often it was given."""
    same, numbers = dict.fromkeys(kinds, 0.0), dict.fromkeys(kinds, 0.0)
    for unit in units:
        if len(unit) < 2:  # noqa: PLR2004 - alone it agrees with nobody.
            continue
        for kind, count in Counter(unit).items():
            same[kind] += count * (count - 1) / (len(unit) - 1)
            numbers[kind] += count
    return list(same.values()), list(numbers.values())


def _alpha_of(same: Sequence[float], numbers: Sequence[float]) -> float | None:
    total = sum(numbers)
    expected = 1 - sum(number * (number - 1) for number in numbers) / (total * (total - 1))
    return 1 - (1 - sum(same) / total) / expected if expected > 0 else None


def _kappas(sums: "Table") -> "Table":
    """Kappa of each row of (both, only judge, only people, neither)."""
    both, judge, people, neither = sums.T
    totals = sums.sum(axis=1)
    agreement = (both + neither) / totals
    chance = ((both + judge) * (both + people) + (people + neither) * (judge + neither)) / totals**2
    kappas: Table = (agreement - chance) / (1 - chance)
    return kappas


def _alphas(sums: "Table") -> "Table":
    """Alpha of each row of (coincidences of like values, numbers of each value)."""
    numbers = sums[:, 1:]
    totals = numbers.sum(axis=1)
    expected = 1 - (numbers * (numbers - 1)).sum(axis=1) / (totals * (totals - 1))
    alphas: Table = 1 - (1 - sums[:, 0] / totals) / expected
    return alphas


def _interval(
    rows: Sequence[list[float]],
    statistic: "Callable[[Table], Table]",
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval | None:
    """Draws of whole rows with replacement; a draw without a value (all alike) is left out, but not half of them."""
    if len(rows) < 2:  # noqa: PLR2004 - one attempt says nothing about others.
        return None
    import numpy as np

    table = np.array(sorted(rows), dtype=float)
    draws = np.random.default_rng((seed, len(rows))).integers(0, len(rows), size=(resamples, len(rows)))
    with np.errstate(divide="ignore", invalid="ignore"):
        values = statistic(table[draws].sum(axis=1))
    values = values[np.isfinite(values)]
    if len(values) * 2 < resamples:
        return None
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))
