"""REST schemas of failures and their labels."""

from uuid import UUID

from pydantic import Field

from backend.domain.statistics.intervals import Interval
from backend.services.read_model import ReadModel


class SuggestionView(ReadModel):
    """A suggestion by a rule."""

    label: str = Field(examples=["repeated"])
    step: int | None
    reason: str


class ReviewView(ReadModel):
    """One person's labels; `accepted` and `rejected` are the rules' suggestions at that time."""

    person: str
    labels: list[str]
    accepted: list[str]
    rejected: list[str]
    note: str


class FailureView(ReadModel):
    """One failed episode. `labels`: set by at least half of the reviewers."""

    episode: UUID
    task: str
    score: float
    ended_by: str | None
    suggested: list[SuggestionView]
    labels: list[str]
    reviews: list[ReviewView]
    url: str


class ShareView(ReadModel):
    """In how many of n failures a label applies, with Wilson's interval."""

    label: str
    count: int
    n: int
    share: float | None
    interval: Interval | None


class LabelAgreement(ReadModel):
    """Krippendorff's alpha of one label, over the episodes that several people judged."""

    label: str
    alpha: float | None
    episodes: int


class LabelView(ReadModel):
    """One label; `papers`: its names in papers."""

    title: str
    text: str
    papers: dict[str, str]
    by_rule: bool


class FailureSample(ReadModel):
    """A seeded sample of a run's failures."""

    run: UUID
    seed: int
    failed: int = Field(description="Failures that the run has.")
    judged: int = Field(description="Of those drawn, how many somebody has judged.")
    episodes: list[FailureView] = Field(description="In the order of drawing.")
    by_people: list[ShareView]
    by_rules: list[ShareView]
    agreement: list[LabelAgreement]
    labels: dict[str, LabelView] = Field(description="The closed set, by key.")
