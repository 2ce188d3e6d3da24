from backend.domain.model import omnibench_labels
from backend.domain.omnibench import complexity


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
    def test_what_is_no_level_is_left_out(self) -> None:
        found = omnibench_labels.complexity({"complexity": {"branch": "hard", "hierarchy": "huge", "else": "easy"}})
        assert found == {"branch": "hard"}

    def test_none(self) -> None:
        assert omnibench_labels.complexity({"complexity": None}) == {}
