from typing import Any, Literal

from pydantic import BaseModel, Field

from backend.services.runs.views.new_run import parameters


class Params(BaseModel):
    """Parameters as an agent declares them."""

    chance: float = Field(default=0.0, ge=0, le=1, description="How likely.")
    steps: int | None = None
    style: Literal["calm", "hasty"] = "calm"
    loud: bool = False
    extra: dict[str, Any] = {}
    run: str
    grounder_endpoint: str = "openai"
    model: str = ""


class TestParameters:
    def test_from_a_model_s_schema(self) -> None:
        found = {field.name: field for field in parameters(Params.model_json_schema())}
        assert {name: field.kind for name, field in found.items()} == {
            "chance": "number", "steps": "integer", "style": "choice",
            "loud": "boolean", "extra": "json", "run": "text", "grounder_endpoint": "endpoint", "model": "model",
        }  # fmt: skip
        assert (found["chance"].low, found["chance"].high, found["chance"].help) == (0, 1, "How likely.")
        assert found["style"].choices == ("calm", "hasty")
        assert [name for name, field in found.items() if field.required] == ["run"]
