from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from backend.services.read_model import FieldProblem
from backend.services.runs.views.new_run import parameters
from backend.services.runs.views.run_form import options_of, params_of, request_of


class Params(BaseModel):
    """Parameters as an agent declares them."""

    chance: float = Field(default=0.0, ge=0, le=1)
    steps: int | None = None
    style: Literal["calm", "hasty"] = "calm"
    loud: bool = False
    extra: dict[str, Any] = {}
    run: str


FIELDS = parameters(Params.model_json_schema())


class TestParamsOf:
    def test_typed_and_empty_left_out(self) -> None:
        problems: list[FieldProblem] = []
        given = {"chance": "0.5", "steps": "", "style": "hasty", "loud": "on", "extra": '{"a": 1}', "run": " x "}
        assert params_of(FIELDS, given, problems) == {
            "chance": 0.5, "style": "hasty", "loud": True, "extra": {"a": 1}, "run": "x",
        }  # fmt: skip
        assert problems == []

    def test_all_wrong_texts_are_named(self) -> None:
        problems: list[FieldProblem] = []
        params_of(FIELDS, {"steps": "many", "chance": "some", "extra": "{", "run": "x"}, problems)
        assert {each.path: each.message for each in problems} == {
            "params.steps": "Enter a whole number.",
            "params.chance": "Enter a number.",
            "params.extra": "Enter JSON.",
        }


class TestOptionsOf:
    def test_options_are_parsed_from_a_json_object(self) -> None:
        problems: list[FieldProblem] = []
        assert options_of("image", '{"scale": 0.5}', problems) == {"scale": 0.5}
        assert problems == []

    @pytest.mark.parametrize("text", ["{", "[1]", "nothing"])
    def test_anything_else_names_its_field(self, text: str) -> None:
        problems: list[FieldProblem] = []
        assert options_of("image", text, problems) == {}
        assert [each.path for each in problems] == ["image"]


class TestRequestOf:
    def test_all_wrong_fields_are_named(self) -> None:
        problems: list[FieldProblem] = []
        values = {"benchmark": "b", "agent": "a", "repeats": "many", "budget": {"max_steps": "0"}}
        assert request_of(values, problems) is None
        assert {each.path: each.message for each in problems} == {
            "repeats": "Must be a whole number.",
            "budget.max_steps": "Must be at least 1.",
        }
