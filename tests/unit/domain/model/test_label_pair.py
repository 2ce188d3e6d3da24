"""Pairs of labels: one pair from either side, and its cells."""

import pytest

from backend.domain.model.label_pair import LabelPair, values_of


class TestLabelPair:
    def test_is_symmetric(self) -> None:
        assert (
            LabelPair.sorted_pair("persona", "level")
            == LabelPair.sorted_pair("level", "persona")
            == ("level", "persona")
        )
        assert LabelPair.sorted_pair("persona", "level").dimension == "level*persona"

    def test_a_task_is_in_each_combination_of_its_values(self) -> None:
        labels = {"app": ["a/b", "ü"], "level": ["L1"], "team": ["red"]}
        cells = list(LabelPair.sorted_pair("level", "app").cells(labels))
        assert list(map(values_of, cells)) == [("a/b", "L1"), ("ü", "L1")]

    @pytest.mark.parametrize("labels", [{}, {"level": ["L1"]}, {"level": ["L1"], "app": []}])
    def test_a_task_without_one_of_them_is_in_none(self, labels: dict[str, list[str]]) -> None:
        assert list(LabelPair.sorted_pair("level", "app").cells(labels)) == []
