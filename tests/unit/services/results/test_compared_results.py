import pytest

from backend.domain.statistics.task_comparison import TaskScores, compare_tasks
from backend.services.results.views.compared_results import p_text, sentence


def sentence_of(base: str, other: str) -> str:
    """The sentence about single passes of the digits / 2."""
    pairs = zip(base, other, strict=True)
    compared = compare_tasks([TaskScores(f"t{at}", [int(a) / 2], [int(b) / 2]) for at, (a, b) in enumerate(pairs)])
    assert compared is not None
    return sentence("A", "B", compared)


class TestSentence:
    def test_sentence_says_who_solves_more(self) -> None:
        text = sentence_of("0000000200", "2222222000")
        assert text.startswith("B solves 60.0 points more than A (95 %: ")
        assert text.endswith("; exact McNemar test p = 0.07; 10 common tasks)")

    def test_less_has_its_interval_in_the_same_direction(self) -> None:
        more, less = sentence_of("0000", "2220"), sentence_of("2220", "0000")
        assert less.partition("(")[2] == more.partition("(")[2]
        assert less.startswith("B solves 75.0 points less than A")

    def test_sentence_compares_scores_if_they_are_fractions(self) -> None:
        assert sentence_of("1000", "2000").startswith("B scores 12.5 points more than A")

    def test_little_is_not_nothing(self) -> None:
        assert sentence_of("0" * 2999 + "0", "0" * 2999 + "2").startswith("B solves less than 0.1 points more than A (")

    def test_sentence_says_that_both_solve_as_much(self) -> None:
        assert sentence_of("2", "2").startswith("B solves as much as A (95 %: ")
        assert sentence_of("2", "2").endswith("1 common task)")


class TestPText:
    @pytest.mark.parametrize(("value", "text"), [(0.00099, "p < 0.001"), (0.0041, "p = 0.0041"), (1.0, "p = 1")])
    def test_p_value_has_two_digits(self, value: float, text: str) -> None:
        assert p_text(value) == text

    @pytest.mark.parametrize(
        ("value", "alpha", "text"),
        [(0.0504, 0.05, "p = 0.0504"), (0.05, 0.05, "p = 0.05"), (0.06, 0.05, "p = 0.06"), (0.0005, 0.01, "p < 0.001")],
    )
    def test_is_on_the_right_side_of_alpha(self, value: float, alpha: float, text: str) -> None:
        assert p_text(value, alpha) == text
