from backend.domain.model import omnibench_labels
from backend.domain.omnibench import complexity


class TestTested:
    def test_composed_task_tests_its_own_capability(self) -> None:
        assert omnibench_labels.tested_capabilities({"capability": "LRP", "capabilities": ["LRP", "LSR"]}) == ("LRP",)

    def test_unknown_capability_falls_back_to_all_qualifying_ones(self) -> None:
        assert omnibench_labels.tested_capabilities({"capabilities": ["LSR", "LRP"]}) == ("LRP", "LSR")
        assert omnibench_labels.tested_capabilities({"capability": "made up", "capabilities": ["PP"]}) == ("PP",)


class TestNames:
    def test_names_equal_those_of_graph_complexity(self) -> None:
        assert list(omnibench_labels.CAPABILITIES) == list(complexity.CAPABILITIES)
        assert list(omnibench_labels.COMPLEXITIES) == list(complexity.BOUNDS)


class TestCapabilities:
    def test_known_ones_in_the_papers_order(self) -> None:
        assert omnibench_labels.capabilities({"capabilities": ["DI", "PP", "made up"]}) == ("PP", "DI")

    def test_missing_or_invalid_labels_give_none(self) -> None:
        assert omnibench_labels.capabilities({}) == ()
        assert omnibench_labels.capabilities({"capabilities": "PP"}) == ()


class TestComplexity:
    def test_invalid_levels_are_ignored(self) -> None:
        result = omnibench_labels.complexity({"complexity": {"branch": "hard", "hierarchy": "huge", "else": "easy"}})
        assert result == {"branch": "hard"}

    def test_missing_complexity_is_empty(self) -> None:
        assert omnibench_labels.complexity({"complexity": None}) == {}
