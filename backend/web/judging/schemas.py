"""Bodies and responses of requests about judges."""

from uuid import UUID

from pydantic import Field

from backend.services.accounts.projects import LONGEST_NAME
from backend.services.judging.reviews import MOST_DRAWN
from backend.services.judging.views import ReviewTaskView
from backend.services.read_model import ReadModel
from backend.web.api_common import RequestModel


class Draw(RequestModel):
    """Number of attempts to draw for people."""

    size: int = Field(default=50, ge=1, le=MOST_DRAWN)
    seed: int = Field(default=0, ge=0, le=2**53)


class DrawResult(ReadModel):
    """Number of new attempts in the queue."""

    attempts_sampled: int


class ReviewQueue(ReadModel):
    """The review queue of a person."""

    task: ReviewTaskView | None = Field(description="Null: nothing is left for this person.")


class ReviewAnswer(RequestModel):
    """A person's answer: `verdicts` on each criterion (null: cannot tell), or both ratings."""

    by: str = Field(min_length=1, max_length=LONGEST_NAME, examples=["ann"])
    item: UUID
    verdicts: dict[str, bool | None] | None = Field(default=None, max_length=201, examples=[{"opened": True}])
    completion: int | None = Field(default=None, description="In tenths: 0, 10 .. 100.", examples=[70])
    logic: int | None = Field(default=None, description="In tenths.", examples=[100])
