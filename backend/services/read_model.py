"""What every read model shares: a noun as it is shown, built from rows in one place, for JSON and for pages."""

from pydantic import BaseModel, ConfigDict, Field


class ReadModel(BaseModel):
    """A row, or several of them joined, as people and programs read it.

    The API returns it as it is; a page gets the same object, with its properties and what the filters of
    `backend.web.templating` make of its fields.
    """

    model_config = ConfigDict(frozen=True, from_attributes=True)


class FieldProblem(ReadModel):
    """One field of a request that is wrong."""

    path: str = Field(examples=["budget.max_steps"])
    message: str = Field(examples=["Input should be greater than or equal to 1"])
