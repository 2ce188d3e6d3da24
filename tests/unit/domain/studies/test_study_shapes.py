from statistics import stdev
from typing import Any

import pytest

from backend.domain.model.run import RunConfig
from backend.domain.studies.study import Factor, StudyConfig
from backend.domain.studies.study_results import CellEpisode, study_result
from backend.domain.studies.study_shapes import Values, sensitivities, shape, shapes

ORDERS = (None, "order=2", "order=3")
STUDY = StudyConfig(
    benchmark="graphs",
    base=RunConfig(agent="random"),
    factors=(Factor(name="variant", levels=ORDERS), Factor(name="perturbation", levels=(None, "moved"))),
    resamples=200,
)


def cell(variant: str | None, *scores: float, moved: bool = False) -> tuple[dict[str, Any], list[Values]]:
    levels = {"variant": variant, "perturbation": "moved" if moved else None}
    return levels, [Values(f"t{at}", {"score": score, "CR": score / 2}, {}) for at, score in enumerate(scores)]


def graph(nodes: int, edges: int, width: int, knowledge: str = "easy") -> dict[str, Any]:
    return {
        "graph": {"instruction": nodes, "dependency": edges, "branch": width},
        "complexity": {"knowledge": knowledge},
    }


class TestSensitivities:
    def test_the_mean_over_tasks_of_the_deviation_over_orders(self) -> None:
        cells = [
            cell(None, 0.0, 1.0),
            cell("order=2", 0.5, 1.0),
            cell("order=3", 1.0, 1.0),
            cell(None, 1, 1, moved=True),
        ]
        order, moved = sensitivities(STUDY, cells)
        assert (order.factor, order.levels) == ("variant", 3)
        assert order.deviations["score"] == pytest.approx(((0.5 + 0.0) / 2, 2))
        assert order.deviations["CR"] == pytest.approx((0.125, 2))
        assert moved.deviations["score"][0] == pytest.approx((stdev([0.0, 1.0]) + 0.0) / 2)

    def test_a_task_that_lacks_a_level_does_not_count(self) -> None:
        cells = [cell(None, 0.0, 1.0), cell("order=2", 0.5), cell("order=3", 1.0, 1.0)]
        (result,) = sensitivities(STUDY, cells)
        assert result.deviations["score"] == (0.5, 1)

    def test_repeats_are_averaged_first(self) -> None:
        twice = [
            (levels, [*made, *made]) for levels, made in (cell(None, 0.0), cell("order=2", 0.5), cell("order=3", 1.0))
        ]
        assert sensitivities(STUDY, twice)[0].deviations["score"] == (0.5, 1)


class TestShape:
    def test_chains_have_no_width(self) -> None:
        assert shape(graph(4, 3, 1)) == ("chain", 4, 3, "easy")
        assert shape(graph(4, 3, 2, "hard")) == ("graph", 4, 3, "hard")

    @pytest.mark.parametrize(
        "extra", [{}, {"graph": 3}, {"graph": {"branch": 1}}, {**graph(4, 3, 1), "complexity": {}}]
    )
    def test_uncomposed_tasks_have_no_shape(self, extra: dict[str, Any]) -> None:
        assert shape(extra) is None


class TestShapes:
    def test_only_equal_counts_are_paired(self) -> None:
        episodes = [
            Values("chain-a", {"score": 1.0, "CR": 1.0}, graph(4, 3, 1)),
            Values("chain-b", {"score": 1.0}, graph(5, 4, 1)),
            Values("graph-a", {"score": 0.0, "CR": 0.5}, graph(4, 3, 2)),
            Values("graph-b", {"score": 0.0}, graph(4, 4, 2)),
            Values("other", {"score": 0.0}, {}),
        ]
        (result,) = shapes(STUDY, [({"variant": None}, episodes)])
        score, cr = result.comparisons["score"].score, result.comparisons["CR"].score
        assert score is not None
        assert cr is not None
        assert (score.base, score.other, score.value) == (1.0, 0.0, -1.0)
        assert (cr.value, result.comparisons["CR"].pairs) == (-0.5, 1)
        assert result.unmatched == 2

    def test_a_cell_without_both_has_none(self) -> None:
        assert shapes(STUDY, [({}, [Values("chain-a", {"score": 1.0}, graph(4, 3, 1))])]) == []


class TestMeasures:
    def test_differ_over_the_pairs_that_have_them(self) -> None:
        study = STUDY.model_copy(update={"factors": (Factor(name="variant", levels=(None, "intent=given")),)})

        def facts(*measures: dict[str, float]) -> list[CellEpisode]:
            return [
                CellEpisode(f"t{at}", 0, "scored", None, "done", 0.0, 3, measures={**one, "score": 0.0})
                for at, one in enumerate(measures)
            ]

        base = facts({"CR": 0.2, "LC": 1.0}, {"CR": 0.4})
        given = facts({"CR": 0.4, "LC": 0.5}, {"CR": 0.8, "LC": 0.5})
        (level,) = study_result(study, [({"variant": None}, base), ({"variant": "intent=given"}, given)]).levels
        assert list(level.measures) == ["CR", "LC"]
        assert level.measures["CR"].difference.value == pytest.approx(0.3)
        assert (level.measures["CR"].pairs, level.measures["CR"].undefined) == (2, 0)
        assert level.measures["LC"].difference.value == pytest.approx(-0.5)
        assert (level.measures["LC"].pairs, level.measures["LC"].undefined) == (1, 1)
