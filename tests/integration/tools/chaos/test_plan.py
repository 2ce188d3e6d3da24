import pytest

from tests.conftest import ROOT
from tools.chaos.campaign import kinds
from tools.chaos.faults import KINDS
from tools.chaos.plan import Volley, only, plan, read_numbers
from tools.chaos.report import about


def described(volleys: list[Volley]) -> list[object]:
    return [(each.number, each.kind, each.after, each.fault.drawn()) for volley in volleys for each in volley.faults]


class TestPlan:
    def test_the_same_seed_gives_the_same_faults(self) -> None:
        assert described(plan(7, 60, kinds())) == described(plan(7, 60, kinds()))

    def test_other_seed_gives_other_faults(self) -> None:
        assert described(plan(7, 60, kinds())) != described(plan(8, 60, kinds()))

    def test_numbers_go_from_one_to_the_last(self) -> None:
        assert [each.number for volley in plan(3, 50, kinds()) for each in volley.faults] == list(range(1, 51))

    @pytest.mark.parametrize("flavour", ["local", "cluster"])
    def test_a_deck_has_every_kind_and_those_that_lose_a_worker_twice(self, flavour: str) -> None:
        names = kinds(flavour)
        deck = sorted([*names, *(name for name in names if KINDS[name].loses)])
        dealt = [each.kind for volley in plan(3, len(deck), names) for each in volley.faults]
        assert sorted(dealt) == deck

    def test_faults_that_lose_a_worker_mostly_come_alone(self) -> None:
        volleys = plan(3, 200, kinds())
        losing = [volley for volley in volleys if any(KINDS[each.kind].loses for each in volley.faults)]
        assert all(len(volley.faults) == 1 for volley in losing if KINDS[volley.faults[0].kind].loses)
        assert len([volley for volley in losing if len(volley.faults) == 1]) >= 15

    def test_each_stack_gets_what_it_has(self) -> None:
        assert "kill x server" not in kinds("cluster")
        assert "drain node" not in kinds("local")
        assert {"kill worker", "kill postgres", "full disk"} <= set(kinds("cluster")) & set(kinds("local"))

    def test_longer_campaign_starts_like_a_shorter_one(self) -> None:
        assert described(plan(3, 80, kinds()))[:40] == described(plan(3, 60, kinds()))[:40]


class TestOnly:
    def test_keeps_whole_volleys(self) -> None:
        volleys = plan(3, 60, kinds())
        together = next(volley for volley in volleys if len(volley.faults) > 1)
        assert only(volleys, {together.faults[1].number}) == [together]


class TestReadNumbers:
    @pytest.mark.parametrize(("words", "numbers"), [("", set()), ("3", {3}), ("3,7-9", {3, 7, 8, 9})])
    def test_reads_numbers_and_spans(self, words: str, numbers: set[int]) -> None:
        assert read_numbers(words) == numbers

    def test_refuses_other_words(self) -> None:
        with pytest.raises(ValueError, match="invalid literal"):
            read_numbers("three")


class TestDocumentation:
    def test_chaos_page_has_every_kind_with_its_sentence(self) -> None:
        page = (ROOT / "docs" / "internals" / "chaos.md").read_text()
        assert [line for line in about().splitlines() if line not in page] == []
        assert len(about().splitlines()) == len(KINDS)
