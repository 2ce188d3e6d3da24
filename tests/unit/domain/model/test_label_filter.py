"""Selection of tasks by their labels."""

import pytest

from backend.domain.errors import Invalid
from backend.domain.model.label_filter import MOST_VALUES, cut_labels, label_filter, matches, order_values


class TestLabelFilter:
    def test_values_of_one_label_are_alternatives(self) -> None:
        assert label_filter(["level=L1", "feasible=no", "level=L2"]) == {"level": ["L1", "L2"], "feasible": ["no"]}

    def test_only_the_first_equals_sign_separates(self) -> None:
        assert label_filter(["drift=a=b"]) == {"drift": ["a=b"]}

    @pytest.mark.parametrize("condition", ["level", "=L1", "level=", "Level=L1", "le vel=1", f"level={'x' * 61}"])
    def test_invalid_condition_is_refused(self, condition: str) -> None:
        with pytest.raises(Invalid) as error:
            label_filter(["level=L1", condition])
        assert (error.value.code, error.value.path) == ("invalid_label_condition", "where.1")


class TestMatches:
    @pytest.mark.parametrize(
        ("labels", "fits"),
        [
            ({"level": ["L1"], "app": ["word", "excel"]}, True),
            ({"level": ["L2"], "app": ["excel"]}, True),
            ({"level": ["L2"], "app": ["word"]}, False),
            ({"level": ["L3"], "app": ["excel"]}, False),
            ({"app": ["excel"]}, False),
        ],
    )
    def test_every_label_needs_one_of_its_values(self, labels: dict[str, list[str]], fits: bool) -> None:  # noqa: FBT001
        assert matches(labels, {"level": ["L1", "L2"], "app": ["excel"]}) is fits

    def test_a_task_without_the_label_is_unlabelled(self) -> None:
        assert matches({"level": ["L1"]}, {"team": ["unlabelled"]})
        assert not matches({"team": ["red"]}, {"team": ["unlabelled"]})

    def test_empty_filter_matches_every_task(self) -> None:
        assert matches({}, {})


class TestOrder:
    def test_order_follows_the_tables(self) -> None:
        assert order_values({"hard", "unlabelled", "easy", "medium"}) == ["easy", "medium", "hard", "unlabelled"]
        assert order_values({"10", "9", "2.5"}) == ["2.5", "9", "10"]
        assert order_values({"SDK", "PP", "LIF"}) == ["PP", "LIF", "SDK"]
        assert order_values({"L2", "L1"}) == ["L1", "L2"]


def test_label_with_too_many_values_is_not_a_cut() -> None:
    tasks = [{"level": [f"L{at % 3}"], "twin": [f"task-{at}"]} for at in range(MOST_VALUES + 1)]
    assert cut_labels(tasks) == ["level"]
