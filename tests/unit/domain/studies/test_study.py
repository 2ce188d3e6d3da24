import json
from typing import Any

import pytest

from backend.domain.errors import Invalid
from backend.domain.model.run import ImageView, RunConfig, ScreenSize
from backend.domain.studies.study import (
    Design,
    Factor,
    StudyConfig,
    cell_label,
    cells,
    level_label,
    matched_cells,
    sample_tasks,
)
from tests.error_codes import raises_code


def study(*factors: tuple[str, tuple[Any, ...]], base: RunConfig | None = None, **more: Any) -> StudyConfig:
    return StudyConfig(
        benchmark="starter",
        base=base or RunConfig(agent="random", seed=3),
        factors=tuple(Factor(name=name, levels=levels) for name, levels in factors),
        **more,
    )


SCALE = ("image.scale", (1.0, 0.5, 0.2))
WINDOWS = ("perturbation", (None, "moved"))


class TestCells:
    def test_one_factor_at_a_time(self) -> None:
        result = cells(study(SCALE, WINDOWS))
        assert [dict(cell.levels) for cell in result] == [
            {"image.scale": 1.0, "perturbation": None},
            {"image.scale": 0.5, "perturbation": None},
            {"image.scale": 0.2, "perturbation": None},
            {"image.scale": 1.0, "perturbation": "moved"},
        ]
        assert [cell.config.image for cell in result] == [ImageView(scale=scale) for scale in (1.0, 0.5, 0.2, 1.0)]
        assert [cell.config.perturbation for cell in result] == [None, None, None, "moved"]

    def test_full_design_has_every_combination(self) -> None:
        result = cells(study(SCALE, WINDOWS, design=Design.FULL))
        assert len(result) == 6
        assert result[0].label == "image.scale = 1.0, perturbation = none"
        assert len({cell.label for cell in result}) == 6

    def test_all_share_tasks_repeats_and_seed(self) -> None:
        base = RunConfig(agent="random", seed=9, repeats=2, tasks=("a/*",))
        assert {(c.config.seed, c.config.repeats, c.config.tasks) for c in cells(study(SCALE, base=base))} == {
            (9, 2, ("a/*",))
        }

    def test_tasks_of_a_sample(self) -> None:
        assert {cell.config.tasks for cell in cells(study(SCALE), ["a/b", "c/d"])} == {("a/b", "c/d")}

    def test_every_cell_is_measured_on_each_task_set(self) -> None:
        sets = ("tasks", ("a/* b/c", ["d/e f"], None))
        result = cells(study(SCALE, sets, WINDOWS, base=RunConfig(agent="random", tasks=("x/*",))))
        assert len(result) == study(SCALE, sets, WINDOWS).cell_count == 4 * 3
        assert [cell.config.tasks for cell in result[:3]] == [("a/*", "b/c"), ("d/e f",), ()]
        assert len(matched_cells([cell.levels for cell in result], "image.scale", 0.5, 1.0)) == 3

    def test_no_sample_of_several_task_sets(self) -> None:
        with raises_code(Invalid, "invalid_study", path="sample"):
            cells(study(SCALE, ("tasks", ("a/*", "b/*")), sample=0.5))

    @pytest.mark.parametrize(
        ("factor", "levels", "field", "value"),
        [
            ("screen", ("1920x1080", "1280x800"), "screen", ScreenSize(width=1280, height=800)),
            ("screen", ("1920x1080", {"width": 640, "height": 480}), "screen", ScreenSize(width=640, height=480)),
            ("image.fit", (None, "1024x1024"), "image", ImageView(fit=(1024, 1024))),
            ("params.history", (1, "all"), "params", {"history": "all", "model": "m"}),
            ("params", ({}, {"history": 2}), "params", {"history": 2}),
            ("observation_params.sources", (["tree"], ["ocr"]), "observation_params", {"sources": ["ocr"]}),
            ("variant", (None, "language=cn"), "variant", "language=cn"),
            ("agent", ("random", "noop"), "agent", "noop"),
            ("settle.quiet", (0.2, 1), "settle", RunConfig(agent="a").settle.model_copy(update={"quiet": 1.0})),
        ],
    )
    def test_a_level_goes_into_its_field(self, factor: str, levels: tuple[Any, ...], field: str, value: Any) -> None:
        base = RunConfig(agent="random", params={"model": "m"})
        assert getattr(cells(study((factor, levels), base=base))[1].config, field) == value

    def test_unset_options_stay_open_for_a_preset(self) -> None:
        base = RunConfig(agent="prompt", preset="osworld")
        for cell in cells(study(SCALE, base=base)):
            assert cell.config.model_fields_set == {"agent", "preset", "image"}

    def test_null_leaves_the_field_out(self) -> None:
        base = RunConfig(agent="random", perturbation="shrunk")
        assert [cell.config.perturbation for cell in cells(study(WINDOWS, base=base))] == [None, "moved"]

    @pytest.mark.parametrize(
        ("factors", "path", "words"),
        [
            ([("image.scale", (1.0, 7))], "factors.image.scale.1", "must be at most"),
            ([("image.scale", (1.0, "big"))], "factors.image.scale.1", "must be a number"),
            ([("image.size", (1, 2))], "factors.image.size.0", "is not a known field"),
            ([("perturbation", (None, "spun"))], "factors.perturbation.1", "must match the pattern"),
            ([("screen", ("1920x1080", "wide"))], "factors.screen.1", "not a size like"),
            ([("screen", ("1920x1080", "10x10"))], "factors.screen.1", "must be at least"),
            ([("agent.name", ("a", "b"))], "factors.agent.name", "has no fields"),
            ([("colour", (1, 2))], "factors.colour", "no field 'colour'"),
            ([("seed", (1, 2))], "factors.seed", "share seed"),
            ([("tasks", ("a/*", "b/*"))], "factors.tasks", "not compared with each other"),
            ([("where", (["a=b"], []))], "factors.where", "share where"),
            ([("image.scale", (1.0,))], "factors.image.scale", "two levels or more"),
            ([("image.scale", (0.5, 0.5))], "factors.image.scale", "occurs twice"),
            ([("bad name", (1, 2))], "factors.bad name", "with dots into it"),
            ([("image", (None, {})), ("image.scale", (1.0, 0.5))], "factors.image", "same field"),
            ([SCALE, SCALE], "factors.image.scale", "same field"),
        ],
    )
    def test_mistakes_are_named(self, factors: list[tuple[str, tuple[Any, ...]]], path: str, words: str) -> None:
        with raises_code(Invalid, "invalid_study", mentions=words) as wrong:
            cells(study(*factors))
        assert wrong.value.path == path

    def test_too_many_cells(self) -> None:
        many = tuple((f"params.p{at}", tuple(range(8))) for at in range(3))
        with raises_code(Invalid, "study_too_large", mentions=("512", "200")):
            cells(study(*many, design=Design.FULL))
        assert len(cells(study(*many))) == 22


class TestConfig:
    def test_survives_a_database(self) -> None:
        given = study(SCALE, WINDOWS, base=RunConfig(agent="random", preset="waa"), sample=0.1)
        stored = json.loads(json.dumps(given.model_dump(mode="json", exclude_unset=True)))
        again = StudyConfig.model_validate(stored)
        assert again == given
        assert cells(again) == cells(given)

    def test_levels_in_the_order_of_the_factors(self) -> None:
        given = study(WINDOWS, SCALE)
        assert list(given.in_order({"image.scale": 1.0, "perturbation": None})) == ["perturbation", "image.scale"]


class TestWords:
    @pytest.mark.parametrize(
        ("level", "words"), [(None, "none"), ("moved", "moved"), (0.5, "0.5"), ({"b": 1, "a": 2}, '{"a": 2, "b": 1}')]
    )
    def test_levels_are_labelled(self, level: Any, words: str) -> None:
        assert level_label(level) == words

    def test_cells_are_labelled(self) -> None:
        assert cell_label({"image.scale": 0.5, "perturbation": None}) == "image.scale = 0.5, perturbation = none"


class TestSampled:
    KEYS = tuple(f"d/{number}" for number in range(40))

    def test_a_share_in_the_tasks_own_order(self) -> None:
        result = sample_tasks(self.KEYS, 0.1, 7)
        assert len(result) == 4
        assert result == [key for key in self.KEYS if key in result]

    def test_the_seed_decides(self) -> None:
        assert sample_tasks(self.KEYS, 0.1, 7) == sample_tasks(self.KEYS, 0.1, 7) != sample_tasks(self.KEYS, 0.1, 8)

    def test_one_at_least_and_all_at_most(self) -> None:
        assert len(sample_tasks(self.KEYS, 0.001, 1)) == 1
        assert sample_tasks(self.KEYS, 1.0, 1) == list(self.KEYS)


class TestMatched:
    def test_one_at_a_time_pairs_with_the_base_cell(self) -> None:
        result = [dict(cell.levels) for cell in cells(study(SCALE, WINDOWS))]
        assert matched_cells(result, "image.scale", 0.2, 1.0) == [(0, 2)]
        assert matched_cells(result, "perturbation", "moved", None) == [(0, 3)]

    def test_a_full_design_pairs_under_each_combination(self) -> None:
        result = [dict(cell.levels) for cell in cells(study(SCALE, WINDOWS, design=Design.FULL))]
        assert matched_cells(result, "perturbation", "moved", None) == [(0, 1), (2, 3), (4, 5)]
        assert matched_cells(result, "image.scale", 0.2, 1.0) == [(0, 4), (1, 5)]
