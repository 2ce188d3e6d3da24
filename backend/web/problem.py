"""The JSON form of errors."""

from pydantic import Field

from backend.services.read_model import FieldProblem, ReadModel

PROBLEM_TYPE = "application/problem+json"


class Problem(ReadModel):
    """An error, as `application/problem+json` (RFC 9457)."""

    type: str = Field(description="Page that explains the code.", examples=["/docs/errors.html#unknown_plugin"])
    title: str = Field(examples=["Unprocessable Content"])
    status: int = Field(examples=[422])
    code: str = Field(description="Stable name of the error.", examples=["unknown_plugin"])
    detail: str = Field(examples=["agent: there is no agent called 'gpt'"])
    hint: str = Field(default="", description="What to do about it.", examples=["Known: noop, oracle, random."])
    path: str = Field(default="", description="The field, file or key that is wrong.", examples=["agent"])
    errors: list[FieldProblem] = Field(default=[])
