import pytest

from backend.domain.scheduling.budgets import Spending, reached

SPENT = Spending(5.0, 1000, 2.0)


class TestReached:
    @pytest.mark.parametrize(
        ("limits", "words"),
        [
            (Spending(), ""),
            (Spending(5.01, 1001, 2.1), ""),
            (Spending(usd=5.0), "budget of the run reached: $5.00 of $5.00 spent"),
            (Spending(usd=6.0, tokens=0), "budget of the run reached: 1,000 of 0 tokens used"),
            (Spending(desktop_hours=1.5), "budget of the run reached: 2.0 of 1.5 desktop hours used"),
            (Spending(usd=0.002), "budget of the run reached: $5.00 of $0.0020 spent"),
            (Spending(desktop_hours=0.0125), "budget of the run reached: 2.0 of 0.013 desktop hours used"),
            (Spending(desktop_hours=0.0), "budget of the run reached: 2.0 of 0.0 desktop hours used"),
        ],
    )
    def test_the_first_limit_in_words(self, limits: Spending, words: str) -> None:
        assert reached(limits, SPENT, "the run") == words
