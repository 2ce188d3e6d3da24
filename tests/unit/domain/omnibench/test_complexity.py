import pytest

from backend.domain.omnibench.complexity import CAPABILITIES, Complexity, complexity
from tests.factories.graphs import BRANCHED


class TestComplexity:
    def test_complexity_equals_the_worked_example(self) -> None:
        apps = {"a": "Excel", "b": "Word", "c": "Mail", "d": "thunar", "e": "vlc"}
        result = complexity(BRANCHED, apps)
        assert result == Complexity(dependency=5, instruction=5, knowledge=4, hierarchy=3, branch=2)
        assert result.levels() == {
            "dependency": "hard",
            "instruction": "hard",
            "knowledge": "hard",
            "hierarchy": "medium",
            "branch": "easy",
        }
        assert result.capabilities() == ("SI", "DI", "CDK", "DSK")

    @pytest.mark.parametrize(
        ("dimension", "easy", "medium"),
        [("dependency", 1, 3), ("instruction", 2, 4), ("knowledge", 1, 3), ("hierarchy", 2, 4), ("branch", 2, 4)],
    )
    def test_bounds_of_table_2(self, dimension: str, easy: int, medium: int) -> None:
        counts = dict.fromkeys(("dependency", "instruction", "knowledge", "hierarchy", "branch"), 0)
        levels = [Complexity(**(counts | {dimension: count})).level(dimension).value for count in range(8)]
        assert levels == ["easy"] * (easy + 1) + ["medium"] * (medium - easy) + ["hard"] * (7 - medium)

    @pytest.mark.parametrize("letters", CAPABILITIES)
    def test_a_capability_is_hard_on_its_dimensions_and_free_on_the_others(self, letters: str) -> None:
        counts = {dimension: 9 if dimension in CAPABILITIES[letters] else 0 for dimension in Complexity.model_fields}
        result = Complexity(**counts)
        assert letters in result.capabilities()
        for dimension in CAPABILITIES[letters]:
            assert letters not in result.model_copy(update={dimension: 0}).capabilities()
