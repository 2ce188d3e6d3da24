import math
from collections.abc import Sequence
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.statistics.agreement import (
    Confusion,
    alpha_interval,
    cohens_kappa,
    confusion,
    kappa_interval,
    krippendorffs_alpha,
)

# K. Krippendorff, "Computing Krippendorff's alpha-reliability" (2011): B, two observers and two values; C, four
# observers, five values and gaps. The rows are observers, the columns units.
TWO = ("0100000010", "1110010000")
FOUR = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
# J. L. Fleiss, J. Cohen and B. S. Everitt, "Large sample standard errors of kappa and weighted kappa" (1969): table 1,
# of 200 patients.
PATIENTS = ((106, 10, 4), (22, 28, 10), (2, 12, 6))


def units(rows: Sequence[str]) -> list[list[str]]:
    return [[value for value in column if value != "."] for column in zip(*rows, strict=True)]


def alpha_by_pairs(found: Sequence[Sequence[str]]) -> float:
    """The definition, pair by pair, without a matrix: the share of unlike pairs within units and among all values."""
    paired = [unit for unit in found if len(unit) > 1]
    values = [value for unit in paired for value in unit]
    seen = sum(sum(a != b for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in paired) / len(values)
    chance = sum(a != b for a, b in permutations(values, 2)) / (len(values) * (len(values) - 1))
    return 1 - seen / chance


class TestCohensKappa:
    def test_the_example_of_fleiss_cohen_and_everitt(self) -> None:
        assert cohens_kappa(PATIENTS) == pytest.approx(0.429, abs=5e-4)

    def test_two_readers_of_grant_proposals(self) -> None:
        """Agreement 0.7, by chance 0.5."""
        assert cohens_kappa([[20, 5], [10, 15]]) == pytest.approx(0.4)

    def test_shares_are_as_good_as_counts(self) -> None:
        assert cohens_kappa([[0.4, 0.1], [0.2, 0.3]]) == pytest.approx(0.4)

    @pytest.mark.parametrize("table", [[[0, 0], [0, 0]], [[9, 0], [0, 0]]])
    def test_is_undefined_for_degenerate_tables(self, table: list[list[float]]) -> None:
        assert cohens_kappa(table) is None

    @given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
    def test_kappa_of_a_confusion_matrix_is_bounded(self, pairs: list[tuple[bool, bool]]) -> None:
        result = confusion(pairs)
        assert result.n == len(pairs)
        if result.kappa is not None:
            assert -1 - 1e-9 <= result.kappa <= 1 + 1e-9
            assert (result.kappa == pytest.approx(1)) == (result.agreed == 1)


class TestKrippendorffsAlpha:
    def test_the_example_of_two_observers(self) -> None:
        assert krippendorffs_alpha(units(TWO)) == pytest.approx(0.095, abs=5e-4)

    def test_the_example_of_four_observers_with_gaps(self) -> None:
        assert krippendorffs_alpha(units(FOUR)) == pytest.approx(0.743, abs=5e-4)

    @pytest.mark.parametrize("found", [[], [["a"], ["b"]], [["a", "a"], ["a", "a"]]])
    def test_is_undefined_without_variation(self, found: list[list[str]]) -> None:
        assert krippendorffs_alpha(found) is None

    @given(st.lists(st.lists(st.sampled_from("abc"), max_size=4), max_size=12))
    def test_equals_the_definition_pair_by_pair(self, found: list[list[str]]) -> None:
        alpha = krippendorffs_alpha(found)
        if alpha is not None:
            assert alpha == pytest.approx(alpha_by_pairs(found))


class TestKappaInterval:
    def test_is_near_the_asymptotic_one_where_each_thing_is_drawn_by_itself(self) -> None:
        """For [[a, b], [b, a]] kappa is 2 p - 1 and its standard error 2 sqrt(p (1 - p) / n)."""
        ones = Confusion(1), Confusion(only_judge=1), Confusion(only_people=1), Confusion(neither=1)
        alone = [one for one, n in zip(ones, (80, 20, 20, 80), strict=True) for _ in range(n)]
        interval = kappa_interval(alone)
        half = 1.96 * 2 * math.sqrt(0.8 * 0.2 / 200)
        assert interval is not None
        assert interval == pytest.approx((0.6 - half, 0.6 + half), abs=0.02)

    def test_the_criteria_of_one_attempt_are_drawn_together(self) -> None:
        alone = [Confusion(1, 0, 0, 0), Confusion(0, 1, 0, 0), Confusion(0, 0, 0, 1)] * 20
        together = [Confusion(5, 0, 0, 0), Confusion(0, 5, 0, 0), Confusion(0, 0, 0, 5)] * 4
        narrow, wide = kappa_interval(alone), kappa_interval(together)
        assert narrow is not None
        assert wide is not None
        assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)

    def test_the_same_seed_gives_the_same(self) -> None:
        result = [Confusion(3, 1, 0, 2), Confusion(1, 0, 1, 4), Confusion(2, 0, 0, 0)]
        assert kappa_interval(result, seed=3) == kappa_interval(result[::-1], seed=3)

    @pytest.mark.parametrize("found", [[], [Confusion(3, 1, 1, 3)], [Confusion(3, 0, 0, 0)] * 5])
    def test_is_undefined_without_kappa(self, found: list[Confusion]) -> None:
        assert kappa_interval(found) is None


class TestAlphaInterval:
    def test_contains_the_estimate(self) -> None:
        result = units(FOUR)
        interval = alpha_interval([[unit] for unit in result])
        assert interval is not None
        assert interval.low < 0.743 < interval.high

    def test_is_undefined_without_double_judgements(self) -> None:
        assert alpha_interval([[["a"]], [["b"]]]) is None
