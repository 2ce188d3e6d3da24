"""Views of re-evaluations."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from backend.domain.model.judge_config import JudgeConfig
from backend.services.attempts.reevaluation import RescoreRow
from backend.services.read_model import ReadModel


class RescoreView(ReadModel):
    """A re-evaluation request with the old and the new score."""

    id: UUID
    episode_id: UUID
    attempt_id: UUID
    task: str = Field(examples=["files/copy-a-file"])
    task_set_version: int
    state: Literal["waiting", "done", "failed"]
    message: str = Field(default="", description="Why it failed, or other changes of the newer task.")
    judge: JudgeConfig | None = Field(default=None, description="The model that looks at the kept pictures.")
    tries: int = Field(description="Number of evaluations without a verdict, where there was none before.")
    old_score: float | None = Field(description="null: there was no verdict.")
    new_score: float | None = None
    old_evaluation: UUID
    new_evaluation: UUID | None = None
    make_current: bool
    created_at: datetime
    ended_at: datetime | None = None


def rescore_view(row: RescoreRow) -> RescoreView:
    """The view of a request."""
    rescore = row.rescore
    return RescoreView(
        id=rescore.id,
        episode_id=rescore.episode_id,
        attempt_id=rescore.attempt_id,
        task=row.task.key,
        task_set_version=row.task_set_version,
        state=rescore.state,
        message=rescore.message,
        judge=JudgeConfig.model_validate(rescore.judge) if rescore.judge else None,
        tries=rescore.tries,
        old_score=row.before,
        new_score=row.after,
        old_evaluation=rescore.previous_evaluation_id,
        new_evaluation=rescore.new_evaluation_id,
        make_current=rescore.make_current,
        created_at=rescore.created_at,
        ended_at=rescore.ended_at,
    )


class RescoreRefusal(ReadModel):
    """An episode that cannot be re-evaluated."""

    episode_id: UUID
    task: str
    reason: str


class RunRescore(ReadModel):
    """Requests for a run, and episodes that cannot be re-evaluated."""

    run: UUID
    rescores: list[RescoreView]
    refused: list[RescoreRefusal]
