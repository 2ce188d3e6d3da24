"""REST schemas of judges and reviews."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from backend.domain.statistics.intervals import Interval
from backend.services.accounts.projects import LONGEST_NAME
from backend.services.judging.reviews import MOST_DRAWN
from backend.services.read_model import ReadModel
from backend.web.api_common import RequestModel


class Coefficient(ReadModel):
    """A coefficient of agreement; null if undefined."""

    value: float | None = Field(examples=[0.61])
    interval: Interval | None = Field(description="95 %.")
    n: int = Field(description="What it is over.", examples=[120])


class LevelAgreement(ReadModel):
    """Judge beside people on tasks of one level, or on `all`; each verdict of a person is one pair."""

    level: str = Field(examples=["L2"])
    both_yes: int
    only_judge_yes: int
    only_person_yes: int
    both_no: int
    agreed: float | None = Field(description="Share of pairs in which both say the same.")
    kappa: Coefficient = Field(description="Cohen's, over pairs.")


class RatingCorrelation(ReadModel):
    """Pearson's r of a measure of graphs and what people rated, over attempts that two people have rated."""

    measure: Literal["CR", "LC"]
    rating: Literal["completion", "logic"]
    r: Coefficient


class JudgeView(ReadModel):
    """A judge whose verdicts people can check."""

    id: UUID
    kind: Literal["vlm", "graph"] = Field(description="A model, or the evaluator of graphs of subtasks.")
    endpoint: str
    model: str = Field(examples=["gpt-4o"])
    prompt_sha256: str
    config: dict[str, Any] = Field(description="The judge of a run.")
    created_at: datetime
    attempts_judged: int
    usd: float = Field(description="Of all its answers, those included that could not be used.")
    priced: bool = Field(description="False: not all answers have a price here.")
    drawn: int = Field(description="Attempts drawn for people.")
    done: int = Field(description="Of them, judged by two people.")
    attempts_checked: int = Field(description="Attempts that at least one person has judged.")
    agreement: list[LevelAgreement] = Field(description="All pairs, then by level.")
    alpha_people: Coefficient = Field(description="Krippendorff's, nominal: people among themselves.")
    alpha_with_judge: Coefficient = Field(description="The same with the judge as one more.")
    correlations: list[RatingCorrelation]


class Draw(RequestModel):
    """Number of attempts to draw for people."""

    size: int = Field(default=50, ge=1, le=MOST_DRAWN)
    seed: int = Field(default=0, ge=0, le=2**53)


class DrawResult(ReadModel):
    """How many attempts are new in the queue."""

    drawn: int


class ReviewCriterion(ReadModel):
    """A criterion to judge."""

    name: str
    text: str


class ReviewStep(ReadModel):
    """A step's actions with the screen before it; or the final screen."""

    index: int
    did: str
    picture: str | None = Field(description="Address of the picture.")
    final: bool


class ReviewTaskView(ReadModel):
    """The next item of the queue for a person: nothing of the judge's verdict, nothing of whose attempt it is."""

    item: UUID
    kind: Literal["vlm", "graph"]
    instruction: str
    criteria: list[ReviewCriterion]
    steps: list[ReviewStep]


class ReviewQueue(ReadModel):
    """The queue as a person finds it."""

    task: ReviewTaskView | None = Field(description="Null: nothing is left for this person.")


class ReviewAnswer(RequestModel):
    """A person's answer: `verdicts` on each criterion (null: cannot tell), or both ratings."""

    by: str = Field(min_length=1, max_length=LONGEST_NAME, examples=["ann"])
    item: UUID
    verdicts: dict[str, bool | None] | None = Field(default=None, max_length=201, examples=[{"opened": True}])
    completion: int | None = Field(default=None, description="In tenths: 0, 10 .. 100.", examples=[70])
    logic: int | None = Field(default=None, description="In tenths.", examples=[100])
