from backend.domain.model import omnibench_labels
from backend.domain.omnibench import complexity


class TestTested:
    def test_the_set_of_a_composed_task_is_that_of_its_capability(self) -> None:
        assert omnibench_labels.tested_capabilities({"capability": "LRP", "capabilities": ["LRP", "LSR"]}) == ("LRP",)

    def test_a_task_of_which_it_is_not_known_is_in_all_that_it_qualifies_for(self) -> None:
        assert omnibench_labels.tested_capabilities({"capabilities": ["LSR", "LRP"]}) == ("LRP", "LSR")
        assert omnibench_labels.tested_capabilities({"capability": "made up", "capabilities": ["PP"]}) == ("PP",)


class TestNames:
    def test_are_those_that_graphs_are_measured_by(self) -> None:
        assert list(omnibench_labels.CAPABILITIES) == list(complexity.CAPABILITIES)
        assert list(omnibench_labels.COMPLEXITIES) == list(complexity.BOUNDS)


class TestCapabilities:
    def test_known_ones_in_the_papers_order(self) -> None:
        assert omnibench_labels.capabilities({"capabilities": ["DI", "PP", "made up"]}) == ("PP", "DI")

    def test_none(self) -> None:
        assert omnibench_labels.capabilities({}) == ()
        assert omnibench_labels.capabilities({"capabilities": "PP"}) == ()


class TestComplexity:
    def test_invalid_levels_are_left_out(self) -> None:
        result = omnibench_labels.complexity({"complexity": {"branch": "hard", "hierarchy": "huge", "else": "easy"}})
        assert result == {"branch": "hard"}

    def test_none(self) -> None:
        assert omnibench_labels.complexity({"complexity": None}) == {}
