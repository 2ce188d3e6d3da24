"""Base of all read models: views of rows, built in one place, for JSON and pages."""

import json
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

MOST = 160
"""Maximum characters of a text on one line."""
DASH = "\u2013"
"""Stands for nothing."""


class ReadModel(BaseModel):
    """A row, or several joined rows, as shown to people and programs.

    The API returns it unchanged; pages get the same object, with its properties and the filters of
    `backend.web.templating`.
    """

    model_config = ConfigDict(frozen=True, from_attributes=True)


class FieldProblem(ReadModel):
    """An invalid field of a request."""

    path: str = Field(examples=["budget.max_steps"])
    message: str = Field(examples=["must be at least 1"])


def value_text(value: Any) -> str:
    """A value for readers: `yes` and `no`, a dash for nothing, JSON for lists and objects."""
    if value is None or value in ({}, [], (), ""):
        return DASH
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def short(text: str, most: int = MOST) -> str:
    """`text`, truncated with an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
