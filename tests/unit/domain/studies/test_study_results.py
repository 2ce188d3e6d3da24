from typing import Any

import pytest

from backend.domain.model.run import RunConfig
from backend.domain.studies.study import Design, Factor, StudyConfig
from backend.domain.studies.study_results import CellEpisode, study_result

FACTORS = (Factor(name="image.scale", levels=(1.0, 0.5)), Factor(name="perturbation", levels=(None, "moved")))
STUDY = StudyConfig(benchmark="starter", base=RunConfig(agent="random"), factors=FACTORS, resamples=200)
BASE: dict[str, Any] = {"image.scale": 1.0, "perturbation": None}
SMALL: dict[str, Any] = {"image.scale": 0.5, "perturbation": None}
MOVED: dict[str, Any] = {"image.scale": 1.0, "perturbation": "moved"}


def scored(*scores: float, steps: int = 3, ended_by: str = "done") -> list[CellEpisode]:
    """One scored episode per task."""
    return [CellEpisode(f"t{at}", 1, "scored", None, ended_by, score, steps) for at, score in enumerate(scores)]


def lost(task: str, failure_class: str) -> CellEpisode:
    return CellEpisode(task, 1, "lost", failure_class)


class TestStudyResult:
    def test_each_level_against_the_first(self) -> None:
        cells = [(BASE, scored(1, 1, 0, 1)), (SMALL, scored(1, 0, 0, 0)), (MOVED, scored(1, 1, 0, 1))]
        result = study_result(STUDY, cells)
        small, moved = result.levels
        assert (small.factor, small.base, small.level) == ("image.scale", 1.0, 0.5)
        assert small.comparison.success is not None
        assert small.comparison.success[:3] == (0.75, 0.25, -0.5)
        assert (small.comparison.p_value, small.adjusted_p) == (0.5, 1.0)
        assert moved.comparison.success is not None
        assert moved.comparison.success.value == 0.0
        assert (small.excluded, moved.excluded) == ({}, {})

    def test_pairs_that_do_not_count_are_listed_with_the_reason(self) -> None:
        base = [*scored(1, 1, 1, 1), lost("t4", "guest"), CellEpisode("t5", 1, "waiting")]
        other = [
            *scored(1),
            lost("t1", "task_setup"),
            CellEpisode("t2", 1, "not_runnable"),
            CellEpisode("t3", 1, "scored", None, "done", 1.0, 2, human_assisted=True),
            *[CellEpisode(task, 1, "scored", None, "done", 1.0, 2) for task in ("t4", "t5", "t6")],
        ]
        result = study_result(STUDY, [(BASE, base), (SMALL, other), (MOVED, [])])
        small, moved = result.levels
        assert small.comparison.pairs == 1
        assert small.excluded == {
            "a person helped": 1,
            "base: lost (guest)": 1,
            "base: no such episode": 1,
            "base: waiting": 1,
            "lost (task_setup)": 1,
            "not runnable here": 1,
        }
        assert (moved.comparison.pairs, moved.adjusted_p) == (0, None)
        assert moved.excluded == {"base: lost (guest)": 1, "base: waiting": 1, "no such episode": 4}

    def test_every_pair_is_counted_or_left_out(self) -> None:
        base = [CellEpisode(f"t{task}", repeat, "scored", None, "done", 1.0) for task in range(3) for repeat in (1, 2)]
        result = study_result(STUDY, [(BASE, base), (SMALL, base[:4]), (MOVED, [])])
        for level in result.levels:
            assert level.comparison.pairs + sum(level.excluded.values()) == 6

    def test_a_full_design_compares_under_each_combination(self) -> None:
        study = STUDY.model_copy(update={"design": Design.FULL})
        both = {"image.scale": 0.5, "perturbation": "moved"}
        cells = [(BASE, scored(1, 1)), (MOVED, scored(1, 1)), (SMALL, scored(0, 1)), (both, scored(0, 0))]
        small, moved = study_result(study, cells).levels
        assert (small.comparison.pairs, small.comparison.tasks) == (4, 2)
        assert small.comparison.success is not None
        assert small.comparison.success.value == -0.75
        assert moved.comparison.success is not None
        assert moved.comparison.success.value == -0.25

    def test_steps_and_ways_of_ending_of_each_cell(self) -> None:
        other = [*scored(1, 0, steps=5, ended_by="steps"), lost("t2", "guest")]
        result = study_result(STUDY, [(BASE, scored(1, 1, steps=2)), (SMALL, other), (MOVED, [])])
        assert [bar.label for bar in result.bars] == ["0", "1", "2", "3", "4", "5"]
        base, small, moved = result.cells
        assert (base.by_steps, small.by_steps, moved.by_steps) == (
            [0, 0, 2, 0, 0, 0],
            [0, 0, 0, 0, 0, 2],
            [0] * 6,
        )
        assert (base.ended_by, small.ended_by) == ({"done": 2}, {"steps": 2})
        assert small.excluded == {"lost (guest)": 1}
        assert base.steps is not None
        assert base.steps.median == 2
        assert moved.steps is None

    @pytest.mark.parametrize("seed", [0, 1])
    def test_the_same_episodes_and_seed_give_the_same_numbers(self, seed: int) -> None:
        study = STUDY.model_copy(update={"base": RunConfig(agent="random", seed=seed)})
        one, two = scored(1, 0, 0.5, 1, 0, 0.25), scored(0, 0, 1, 1, 0.5, 0)
        cells: list[Any] = [(BASE, one), (SMALL, two), (MOVED, one)]
        mixed: list[Any] = [(levels, facts[::-1]) for levels, facts in cells]
        assert study_result(study, cells) == study_result(study, mixed)
