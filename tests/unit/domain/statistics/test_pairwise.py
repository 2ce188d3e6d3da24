"""Strengths from choices between two: worked examples, and known strengths found again."""

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain.statistics.pairwise import POINTS, Rating, Score, chance, groups, rate


def by_name(found: list[Rating]) -> dict[str, Rating]:
    return {row.name: row for row in found}


def expected(strengths: dict[str, float], nu: float, number: float) -> list[Score]:
    """The model's expected counts of `number` choices per pair; not whole numbers."""
    scores = []
    for one, two in itertools.combinations(strengths, 2):
        first, second = strengths[one], strengths[two]
        tie = nu * math.sqrt(first * second)
        whole = first + second + tie
        scores.append(Score(one, two, number * first / whole, number * second / whole, number * tie / whole))
    return scores


class TestWorkedExamples:
    def test_three_of_four_are_odds_of_three(self) -> None:
        """Maximum likelihood: ln(pi_a / pi_b) = ln(3 / 1), so 400 * log10(3) = 190.85 points apart."""
        result = by_name(rate([Score("a", "b", 3, 1)], prior=0.0))
        assert result["a"].points - result["b"].points == pytest.approx(400.0 * math.log10(3.0))
        assert result["a"].points == pytest.approx(-result["b"].points)

    def test_interval_uses_fisher_information(self) -> None:
        """Var(ln odds) = 1 / (n p q) = 1 / (4 * 3/4 * 1/4) = 4/3; half of the difference has a quarter of it."""
        result = by_name(rate([Score("a", "b", 3, 1)], prior=0.0))["a"]
        width = POINTS * 1.959963984540054 * math.sqrt(4.0 / 3.0) / 2.0
        assert result.interval.high - result.points == pytest.approx(width)
        assert result.points - result.interval.low == pytest.approx(width)

    @pytest.mark.parametrize("wins", [10.0, 1e3, 1e6, 1e9])
    def test_lopsided_score_has_the_closed_form_interval(self, wins: float) -> None:
        """Var(ln odds) = 1 / wins + 1 / losses, however far apart."""
        result = by_name(rate([Score("a", "b", wins, 1)], prior=0.0))["a"]
        assert result.points == pytest.approx(200.0 * math.log10(wins), rel=1e-7)
        width = POINTS * 1.959963984540054 * math.sqrt(1.0 / wins + 1.0) / 2.0
        assert result.interval.high - result.points == pytest.approx(width, rel=1e-6)

    def test_ties_follow_davidson(self) -> None:
        """Two contestants, 4 wins, 1 loss, 2 ties: odds of 4 among the decided, and nu = 2 / sqrt(4 * 1) = 1."""
        result = by_name(rate([Score("a", "b", 4, 1, 2)], prior=0.0))
        assert result["a"].points - result["b"].points == pytest.approx(400.0 * math.log10(4.0))

    def test_ratings_are_transitive(self) -> None:
        """a : b = 2 and b : c = 3 give a : c = 6 where a and c never met."""
        result = by_name(rate([Score("a", "b", 2, 1), Score("b", "c", 3, 1)], prior=0.0))
        assert result["a"].points - result["c"].points == pytest.approx(400.0 * math.log10(6.0))

    def test_only_ties_give_equal_ratings(self) -> None:
        result = rate([Score("a", "b", 0, 0, 5)])
        assert [row.points for row in result] == pytest.approx([0.0, 0.0])

    def test_counts_wins_losses_and_ties(self) -> None:
        result = by_name(rate([Score("a", "b", 2, 1, 1), Score("c", "a", 1, 0, 0)]))["a"]
        assert (result.wins, result.losses, result.ties) == (2, 2, 1)

    def test_rating_difference_maps_to_win_probability(self) -> None:
        assert chance(0.0) == 0.5
        assert chance(400.0) == pytest.approx(10.0 / 11.0)


class TestPrior:
    def test_unbeaten_side_has_a_finite_rating(self) -> None:
        result = by_name(rate([Score("a", "b", 5, 0)]))
        assert 0.0 < result["a"].points < 1000.0
        assert result["a"].interval.high < math.inf

    def test_more_wins_raise_the_rating(self) -> None:
        few, many = (by_name(rate([Score("a", "b", wins, 0)]))["a"].points for wins in (1, 20))
        assert few < many

    @pytest.mark.parametrize(
        "scores",
        [
            [Score("a", "b", 5, 0)],
            [Score("a", "b", 5, 0, 2)],
            [Score("a", "b", 0, 0, 5)],
            [Score("a", "b", 2, 1, 1), Score("b", "c", 3, 0)],
        ],
    )
    def test_no_prior_and_no_maximum_is_an_error(self, scores: list[Score]) -> None:
        with pytest.raises(ValueError, match="no most likely strengths"):
            rate(scores, prior=0.0)

    def test_a_circle_of_wins_and_ties_has_one(self) -> None:
        scores = [Score("a", "b", 2, 0, 1), Score("b", "c", 2, 0), Score("c", "a", 1, 0)]
        assert [row.name for row in rate(scores, prior=0.0)] == ["a", "b", "c"]

    def test_prior_vanishes_among_many_choices(self) -> None:
        result = by_name(rate([Score("a", "b", 30_000, 10_000)]))
        assert result["a"].points - result["b"].points == pytest.approx(400.0 * math.log10(3.0), abs=0.1)


class TestGroups:
    def test_sides_that_never_met_are_not_compared(self) -> None:
        scores = [Score("a", "b", 1, 1), Score("c", "d", 1, 0), Score("d", "e", 1, 0)]
        assert groups(scores) == [("c", "d", "e"), ("a", "b")]
        assert [(row.name, row.group) for row in rate(scores)] == [("c", 0), ("d", 0), ("e", 0), ("a", 1), ("b", 1)]

    def test_each_group_is_centered_at_zero(self) -> None:
        result = rate([Score("a", "b", 3, 1), Score("c", "d", 1, 3)])
        for number in (0, 1):
            assert sum(row.points for row in result if row.group == number) == pytest.approx(0.0, abs=1e-6)

    def test_a_pair_without_a_choice_connects_nothing(self) -> None:
        assert rate([Score("a", "b", 0, 0, 0)]) == []

    @pytest.mark.parametrize("wrong", [Score("a", "a", 1, 0), Score("a", "b", -1, 0)])
    def test_invalid_comparison_is_an_error(self, wrong: Score) -> None:
        with pytest.raises(ValueError, match="no comparison of two"):
            rate([wrong])


class TestProperties:
    @settings(max_examples=40, deadline=None)
    @given(
        logs=st.lists(st.floats(-2.5, 2.5), min_size=2, max_size=6),
        nu=st.floats(0.0, 2.0),
    )
    def test_known_strengths_are_found_again(self, logs: list[float], nu: float) -> None:
        """Expected counts of known strengths have exactly these as their most likely ones."""
        strengths = {f"c{number}": math.exp(value) for number, value in enumerate(logs)}
        result = by_name(rate(expected(strengths, nu, 50.0), prior=0.0))
        middle = sum(logs) / len(logs)
        for number, value in enumerate(logs):
            assert result[f"c{number}"].points == pytest.approx(POINTS * (value - middle), abs=1e-3)

    @settings(max_examples=40, deadline=None)
    @given(counts=st.lists(st.tuples(*[st.integers(0, 8)] * 3), min_size=3, max_size=3))
    def test_the_order_of_sides_makes_no_difference(self, counts: list[tuple[int, int, int]]) -> None:
        names = [("a", "b"), ("b", "c"), ("a", "c")]
        plain = [Score(one, two, *seen) for (one, two), seen in zip(names, counts, strict=True)]
        turned = [Score(score.second, score.first, score.losses, score.wins, score.ties) for score in plain]
        result, other = by_name(rate(plain)), by_name(rate(turned))
        assert set(result) == set(other)
        for name, row in result.items():
            assert row.points == pytest.approx(other[name].points, abs=1e-6)
            assert row.interval.low <= row.points <= row.interval.high
