"""Bounds of what comes from outside: the last value that is accepted, and the first that is not."""

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from backend.domain.model.episode import EndedBy
from backend.domain.model.export_request import ExportRequest, Filters
from backend.domain.model.judge_config import JudgeConfig
from backend.domain.model.prices import Price
from backend.domain.model.run import Budget, ImageView, RunConfig, ScreenSize, Settle
from backend.domain.model.score import Evaluation, MetricValue, PartResult, Verdict, score_by_rule
from backend.domain.model.task import MAX_PARTS, EvaluatorSpec, Part, TaskKey, Variant
from backend.domain.model.trajectory import Action, Interaction, Mark, ScreenView
from tests.factories.tasks import make_task

KEY = {"domain": "files", "name": "a"}
MARK = {"id": 1, "kind": "text", "x": 10, "y": 20, "width": 7, "height": 5, "origin": "ocr"}
PRICE = {"model": "m", "since": "2026-11-01", "input": 1, "output": 2}
PART = {"name": "a", "kind": "phase", "calls": ({"func": "exact_match"},)}
RESULT = {"name": "a", "kind": "phase", "value": 1}
EVALUATION: dict[str, Any] = {"score": 1, "measures": {}}
VIEW = {"width": 10, "height": 10, "right": 10, "bottom": 10, "screen_width": 10, "screen_height": 10}
VARIANT = {"axis": "context", "value": "none", "task": make_task()}
AGENT, JUDGE, CLICK, TYPED = {"agent": "noop"}, {"model": "m"}, {"type": "CLICK"}, {"number": 1, "kind": "type"}

BOUNDS: list[tuple[type[BaseModel], dict[str, Any], str, object, object]] = [
    (ScreenSize, {}, "width", 320, 319),
    (ScreenSize, {}, "width", 7680, 7681),
    (ScreenSize, {}, "height", 240, 239),
    (ScreenSize, {}, "height", 4320, 4321),
    (Budget, {}, "max_steps", 1, 0),
    (Budget, {}, "max_steps", 1000, 1001),
    (Budget, {}, "max_seconds", 0.001, 0),
    (Budget, {}, "max_seconds", 86400, 86401),
    (Budget, {}, "max_invalid", 1, 0),
    (Budget, {}, "max_invalid", 100, 101),
    (Budget, {}, "max_tokens", 1, 0),
    (Budget, {}, "max_usd", 0.001, 0),
    (Budget, {}, "level_steps", {f"L{n}": 1 for n in range(20)}, {f"L{n}": 1 for n in range(21)}),
    (Settle, {}, "quiet", 0, -0.001),
    (Settle, {}, "quiet", 10, 10.1),
    (Settle, {}, "timeout", 0, -0.001),
    (Settle, {}, "timeout", 60, 60.1),
    (ImageView, {}, "scale", 0.05, 0.049),
    (ImageView, {}, "scale", 1, 1.001),
    (RunConfig, AGENT, "repeats", 1, 0),
    (RunConfig, AGENT, "repeats", 100, 101),
    (RunConfig, AGENT, "preset", "p" * 50, "p" * 51),
    (RunConfig, AGENT, "variant", "a" * 50 + "=" + "b" * 50, "a" * 51 + "=b"),
    (RunConfig, AGENT, "desktop_image", "a" * 63, "a" * 64),
    (JudgeConfig, JUDGE, "endpoint", "e", ""),
    (JudgeConfig, JUDGE, "endpoint", "e" * 100, "e" * 101),
    (JudgeConfig, JUDGE, "model", "m", ""),
    (JudgeConfig, JUDGE, "model", "m" * 200, "m" * 201),
    (JudgeConfig, JUDGE, "temperature", 0, -0.1),
    (JudgeConfig, JUDGE, "temperature", 2, 2.1),
    (JudgeConfig, JUDGE, "votes", 1, -1),
    (JudgeConfig, JUDGE, "votes", 15, 17),
    (JudgeConfig, JUDGE, "pictures", 2, 1),
    (JudgeConfig, JUDGE, "pictures", 100, 101),
    (JudgeConfig, JUDGE, "picture_side", 256, 255),
    (JudgeConfig, JUDGE, "picture_side", 4096, 4097),
    (JudgeConfig, JUDGE, "max_tokens", 256, 255),
    (JudgeConfig, JUDGE, "max_tokens", 100_000, 100_001),
    (Price, PRICE, "model", "m", ""),
    (Price, PRICE, "model", "m" * 200, "m" * 201),
    (Price, PRICE, "input", 0, -0.001),
    (Price, PRICE, "output", 0, -0.001),
    (Price, PRICE, "cached", 0, -0.001),
    (Price, PRICE, "written", 0, -0.001),
    (Price, PRICE, "most", 1, 0),
    (Filters, {}, "min_score", 0, -0.001),
    (Filters, {}, "min_score", 1, 1.001),
    (ExportRequest, {}, "from_part", 0, -1),
    (MetricValue, {}, "value", 0, -0.001),
    (MetricValue, {}, "value", 1, 1.001),
    (MetricValue, {"value": 1}, "step", 0, -1),
    (MetricValue, {"value": 1}, "progress", 0, -0.001),
    (MetricValue, {"value": 1}, "progress", 1, 1.001),
    (PartResult, RESULT, "value", 0, -0.001),
    (PartResult, RESULT, "value", 1, 1.001),
    (Verdict, {}, "score", 0, -0.001),
    (Verdict, {}, "score", 1, 1.001),
    (Evaluation, EVALUATION, "score", 0, -0.001),
    (Evaluation, EVALUATION, "score", 1, 1.001),
    (TaskKey, KEY, "domain", "d", ""),
    (TaskKey, KEY, "domain", "d" * 100, "d" * 101),
    (TaskKey, KEY, "name", "n", ""),
    (TaskKey, KEY, "name", "n" * 200, "n" * 201),
    (Part, PART, "name", "n" * 100, "n" * 101),
    (Part, PART, "weight", 0, -0.001),
    (EvaluatorSpec, {"calls": ()}, "patience", 1, 0),
    (Variant, VARIANT, "axis", "a", ""),
    (Variant, VARIANT, "axis", "a" * 50, "a" * 51),
    (Variant, VARIANT, "value", "v", ""),
    (Variant, VARIANT, "value", "v" * 50, "v" * 51),
    (Action, CLICK, "clicks", 1, 0),
    (Action, CLICK, "clicks", 3, 4),
    (Interaction, TYPED, "text", "t" * 10_000, "t" * 10_001),
    (Interaction, TYPED, "control", "c" * 2000, "c" * 2001),
    (Interaction, TYPED, "role", "r" * 200, "r" * 201),
    (Interaction, TYPED, "window", "w" * 2000, "w" * 2001),
    (Interaction, TYPED, "picture", "p" * 100_000, "p" * 100_001),
    (Mark, MARK, "id", 1, 0),
    (Mark, MARK, "width", 1, 0),
    (Mark, MARK, "height", 1, 0),
    (ScreenView, VIEW, "width", 1, 0),
    (ScreenView, VIEW, "height", 1, 0),
    (ScreenView, VIEW, "screen_width", 1, 0),
    (ScreenView, VIEW, "screen_height", 1, 0),
]


@pytest.mark.parametrize(
    ("model", "facts", "field", "last", "beyond"),
    [pytest.param(*row, id=f"{row[0].__name__}-{row[2]}-{str(row[3])[:8]}") for row in BOUNDS],
)
def test_the_last_value_is_accepted_and_the_next_is_not(
    model: type[BaseModel], facts: dict[str, Any], field: str, last: object, beyond: object
) -> None:
    assert getattr(model.model_validate({**facts, field: last}), field) == last
    with pytest.raises(ValidationError) as caught:
        model.model_validate({**facts, field: beyond})
    assert [error["loc"] for error in caught.value.errors()] == [(field,)]


@pytest.mark.parametrize(("steps", "beyond"), [(1, 0), (1000, 1001)])
def test_steps_of_a_level_have_the_bounds_of_other_steps(steps: int, beyond: int) -> None:
    assert Budget(level_steps={"L1": steps}).steps_of("L1", None) == steps
    with pytest.raises(ValidationError):
        Budget(level_steps={"L1": beyond})


def test_a_task_has_up_to_200_parts() -> None:
    parts = [{**PART, "name": f"p{number}"} for number in range(201)]
    assert len(EvaluatorSpec.model_validate({"calls": (), "parts": parts[:200]}).parts) == MAX_PARTS
    with pytest.raises(ValidationError):
        EvaluatorSpec.model_validate({"calls": (), "parts": parts})


@pytest.mark.parametrize("name", ["l" * 200, "d"])
def test_names_in_filters_are_those_of_tasks(name: str) -> None:
    assert Filters(levels=(name,)).levels == (name,)
    for wrong in ("", "l" * 201):
        with pytest.raises(ValidationError):
            Filters(levels=(name, wrong))


def test_the_centre_is_inside() -> None:
    assert Mark.model_validate(MARK).centre == (13, 22)


class TestScoreByRule:
    @pytest.mark.parametrize(("ended_by", "score"), [(EndedBy.INFEASIBLE, 1.0), (EndedBy.DONE, 0.0)])
    def test_declaring_infeasible_solves_an_infeasible_task(self, ended_by: EndedBy, score: float) -> None:
        evaluation = score_by_rule(EvaluatorSpec.model_validate({"calls": [{"func": "infeasible"}]}), ended_by)
        assert evaluation is not None
        assert evaluation.score == score
        assert ("did not" in evaluation.rule) is (score == 0.0)
