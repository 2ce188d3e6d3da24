"""REST schemas of submissions judged by people."""

from typing import Literal
from uuid import UUID

from pydantic import Field

from backend.services.accounts.projects import LONGEST_NAME
from backend.services.read_model import ReadModel

Side = Literal["left", "right", "equal"]


class SubmissionView(ReadModel):
    """An anonymous submission."""

    id: UUID
    files: list[str] = Field(description="Addresses of its files.")


class PairView(ReadModel):
    """Two submissions for one task."""

    task: str = Field(examples=["creative/IMG_L4_001"])
    instruction: str
    left: SubmissionView
    right: SubmissionView
    compared: int = Field(description="Pairs of the benchmark that this person has compared.")
    remaining: int = Field(description="Pairs left, this one included.")


class PreferenceBody(ReadModel):
    """The preferred one of two submissions."""

    left: UUID
    right: UUID
    preferred: Side
    person: str = Field(default="", max_length=LONGEST_NAME, description="Who compares; empty: `local`.")


class PreferenceView(ReadModel):
    """A stored preference."""

    left: UUID
    right: UUID
    preferred: Side
    person: str
