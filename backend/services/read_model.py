"""Base of all read models: a noun as it is shown, built from rows in one place, for JSON and pages."""

from pydantic import BaseModel, ConfigDict, Field

MOST = 160
"""Characters of a text that is shown on one line."""


class ReadModel(BaseModel):
    """A row, or several of them joined, as people and programs read it.

    The API returns it unchanged; pages get the same object, with its properties and the filters of
    `backend.web.templating`.
    """

    model_config = ConfigDict(frozen=True, from_attributes=True)


class FieldProblem(ReadModel):
    """An invalid field of a request."""

    path: str = Field(examples=["budget.max_steps"])
    message: str = Field(examples=["Input should be greater than or equal to 1"])


def short(text: str, most: int = MOST) -> str:
    """`text`, truncated with an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
