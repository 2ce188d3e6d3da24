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
    """Which of two submissions is preferred."""

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


class ContestantView(ReadModel):
    """An agent configuration, a person, or the human expert. Without preferences there is no rating."""

    name: str
    mark: str = Field(description="`expert`, `human`, `privileged` or empty.")
    submissions: int
    tasks: int
    group: int | None = Field(description="Points of different groups cannot be compared.")
    points: float | None = Field(description="0 is the mean of the group; 400 points are odds of 10 to 1.")
    interval: tuple[float, float] | None
    wins: int
    losses: int
    ties: int
    preferred_over_expert: float | None = Field(description="Probability, among comparisons without a tie.")


class SubmissionBoard(ReadModel):
    """Ratings of a benchmark's newest tasks, best first."""

    benchmark: str
    version: int
    tasks: int
    comparisons: int
    people: int
    left_share: float | None = Field(description="How often the left one was preferred, among the decided.")
    left_interval: tuple[float, float] | None
    warnings: list[str]
    contestants: list[ContestantView]
