import pytest

from backend.domain.statistics.nominal import krippendorff


class TestKrippendorff:
    def test_worked_example(self) -> None:
        # Krippendorff (2013), section 12.3.1: two observers, ten articles, binary; alpha = 0.095.
        first = (0, 1, 0, 0, 0, 0, 0, 0, 1, 0)
        second = (1, 1, 1, 0, 0, 1, 0, 0, 0, 0)
        assert krippendorff(list(zip(first, second, strict=True))) == pytest.approx(0.095, abs=0.0005)

    def test_agreement_and_its_opposite(self) -> None:
        assert krippendorff([("a", "a"), ("b", "b")]) == 1.0
        found = krippendorff([("a", "b"), ("b", "a")])
        assert found is not None
        assert found < 0

    def test_what_was_said_once_does_not_count(self) -> None:
        assert krippendorff([("a", "a"), ("b", "b"), ("a",), ()]) == 1.0

    def test_nothing_to_agree_on(self) -> None:
        assert krippendorff([]) is None
        assert krippendorff([("a",)]) is None
        assert krippendorff([("a", "a"), ("a", "a")]) is None
