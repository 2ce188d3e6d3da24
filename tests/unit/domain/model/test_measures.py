import pytest

from backend.domain import registry
from backend.domain.model.measures import ORDER, in_order, info, primary
from backend.domain.model.omnibench_labels import CAPABILITIES, COMPLEXITIES, capabilities, complexity


class TestInOrder:
    def test_known_ones_first_then_phases_by_place_then_the_rest(self) -> None:
        names = ["zeal", "phase:10", "LC", "phase:2", "CR", "parts", "S_int", "CR"]
        assert in_order(names) == ["S_int", "parts", "CR", "LC", "phase:2", "phase:10", "zeal"]


class TestInfo:
    def test_every_known_measure_has_a_definition(self) -> None:
        assert all(len(info(name).text) > 20 for name in ORDER)

    def test_unknown_ones_go_by_their_name(self) -> None:
        assert (info("zeal").title, info("phase:3").title, info("phase:draft").title) == (
            "zeal",
            "Phase 3",
            "phase:draft",
        )


class TestPrimary:
    @pytest.mark.parametrize(
        ("protocols", "measure"),
        [
            (["omnibench"], "CR"),
            (["windowsworld"], "S_final"),
            (["prosoftarena"], "score"),
            ([""], "score"),
            ([], "score"),
            (["", "omnibench"], "score"),
            (["not installed"], "score"),
        ],
    )
    def test_is_the_protocols_if_all_tasks_have_the_same(self, protocols: list[str], measure: str) -> None:
        registry.load()
        assert primary(protocols) == measure


class TestAbilities:
    def test_labels_in_the_papers_order_and_nothing_else(self) -> None:
        assert capabilities({"capabilities": ["DI", "PP", "XX", 3]}) == ("PP", "DI")
        assert complexity(
            {"complexity": {"branch": "hard", "dependency": "easy", "knowledge": "huge", "x": "easy"}}
        ) == {
            "dependency": "easy",
            "branch": "hard",
        }

    def test_unknown_labels_are_ignored(self) -> None:
        for wrong in ("PP", 3, None):
            assert capabilities({"capabilities": wrong}) == ()
            assert complexity({"complexity": wrong}) == {}
        assert complexity({"complexity": {"branch": ["hard"]}}) == {}

    def test_there_are_ten_and_five(self) -> None:
        assert (len(CAPABILITIES), len(COMPLEXITIES)) == (10, 5)
