import json
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

import pytest
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, field_validator

from backend.domain.model.validation_words import problem_words, sentence_of


class Paint(StrEnum):
    RED = "red"
    BLUE = "blue"


class Form(BaseModel):
    model_config = ConfigDict(extra="forbid")

    steps: int = Field(1, ge=1, le=500)
    share: float = Field(0.5, gt=0, lt=1)
    name: str = Field("x", min_length=1, max_length=3, pattern="^[a-z]+$")
    tasks: list[str] = Field(["a"], min_length=1, max_length=2)
    on: bool = False
    colour: Paint = Paint.RED
    kind: Literal["a", "b"] = "a"
    run: UUID | None = None
    since: datetime | None = None
    until: AwareDatetime | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    inner: "Form | None" = None

    @field_validator("name")
    @classmethod
    def _not_nil(cls, name: str) -> str:
        if name == "nil":
            raise ValueError("nil is no name")
        return name


def first(values: dict[str, Any], **kept: bool) -> Any:
    with pytest.raises(ValidationError) as raised:
        Form.model_validate(values)
    return raised.value.errors(**kept)[0]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"steps": 0}, "must be at least 1"),
        ({"steps": 501}, "must be at most 500"),
        ({"steps": "many"}, "must be a whole number"),
        ({"steps": 1.5}, "must be a whole number"),
        ({"share": 0}, "must be more than 0.0"),
        ({"share": 1}, "must be less than 1.0"),
        ({"share": "half"}, "must be a number"),
        ({"name": ""}, "must not be empty"),
        ({"name": "abcd"}, "must have at most 3 characters"),
        ({"name": "A"}, "must match the pattern ^[a-z]+$"),
        ({"name": "nil"}, "nil is no name"),
        ({"name": 5}, "must be a text"),
        ({"tasks": []}, "must not be empty"),
        ({"tasks": ["a", "b", "c"]}, "must have at most 2 entries"),
        ({"tasks": "a"}, "must be a list"),
        ({"on": "perhaps"}, "must be true or false"),
        ({"colour": "green"}, "must be 'red' or 'blue'"),
        ({"kind": "c"}, "must be 'a' or 'b'"),
        ({"run": "1"}, "is not an id"),
        ({"since": "tomorrow"}, "must be a date and time, such as 2026-11-27T10:00:00Z"),
        ({"until": "2026-11-27T10:00:00"}, "must have a time zone, such as 2026-11-27T10:00:00Z"),
        ({"options": []}, "must be an object"),
        ({"inner": 5}, "must be an object"),
        ({"more": 1}, "is not a known field"),
    ],
    ids=json.dumps,
)
def test_messages_describe_the_problem(values: dict[str, Any], words: str) -> None:
    assert problem_words(first(values)) == words


def test_pydantic_message_is_used_without_limits() -> None:
    assert problem_words(first({"colour": "green"}, include_context=False)) == "must be 'red' or 'blue'"


def test_at_its_field_it_is_a_sentence() -> None:
    assert sentence_of(first({"steps": 0})) == "Must be at least 1."
