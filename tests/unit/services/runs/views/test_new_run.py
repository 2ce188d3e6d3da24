from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from backend.domain.errors import Invalid
from backend.services.runs.views.new_run import options_of, parameters, params_of, request_of


class Params(BaseModel):
    """Parameters as an agent declares them."""

    chance: float = Field(default=0.0, ge=0, le=1, description="How likely.")
    steps: int | None = None
    style: Literal["calm", "hasty"] = "calm"
    loud: bool = False
    extra: dict[str, Any] = {}
    run: str


class TestParameters:
    def test_from_a_model_s_schema(self) -> None:
        found = {field.name: field for field in parameters(Params.model_json_schema())}
        assert {name: field.kind for name, field in found.items()} == {
            "chance": "number", "steps": "integer", "style": "choice",
            "loud": "boolean", "extra": "json", "run": "text",
        }  # fmt: skip
        assert (found["chance"].low, found["chance"].high, found["chance"].help) == (0, 1, "How likely.")
        assert found["style"].choices == ("calm", "hasty")
        assert [name for name, field in found.items() if field.required] == ["run"]


class TestParamsOf:
    def test_typed_and_empty_left_out(self) -> None:
        fields = parameters(Params.model_json_schema())
        given = {"chance": "0.5", "steps": "", "style": "hasty", "loud": "on", "extra": '{"a": 1}', "run": " x "}
        assert params_of(fields, given) == {
            "chance": 0.5, "style": "hasty", "loud": True, "extra": {"a": 1}, "run": "x",
        }  # fmt: skip

    def test_a_wrong_text_names_its_field(self) -> None:
        fields = parameters(Params.model_json_schema())
        with pytest.raises(Invalid) as wrong:
            params_of(fields, {"steps": "many"})
        assert wrong.value.path == "params.steps"


class TestOptionsOf:
    def test_an_object(self) -> None:
        assert options_of("image", '{"scale": 0.5}') == {"scale": 0.5}

    @pytest.mark.parametrize("text", ["{", "[1]", "nothing"])
    def test_anything_else_names_its_field(self, text: str) -> None:
        with pytest.raises(Invalid) as wrong:
            options_of("image", text)
        assert wrong.value.path == "image"


class TestRequestOf:
    def test_a_wrong_field_is_named(self) -> None:
        with pytest.raises(Invalid) as wrong:
            request_of({"benchmark": "b", "agent": "a", "budget": {"max_steps": "0"}})
        assert wrong.value.path == "budget.max_steps"
