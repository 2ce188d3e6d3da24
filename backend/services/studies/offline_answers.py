"""Answers at recorded steps: claimed by a worker, stored in the transaction that claimed them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import DemonstrationRecord, DemonstrationStepRecord, OfflineAnswer, OfflineCell
from backend.db.models.enums import OfflineAnswerState
from backend.db.repositories.attempts import reevaluations
from backend.db.repositories.capacity import workers
from backend.db.repositories.studies import demonstrations
from backend.db.repositories.studies import offline_studies as repository
from backend.domain.model.run import RunConfig
from backend.domain.model.trajectory import Decision
from backend.services.capacity.run_request import episode_seed

TRIES = 5
PAUSE = timedelta(minutes=1)
"""Before the second try; doubled before each further one."""
POSTPONED = timedelta(seconds=15)
"""Until a step is tried again whose files are unavailable."""
_MOST_REPLY = 2**20


@dataclass(frozen=True)
class OfflineJob:
    """A step at which an agent is to be asked; its answer's row is locked until the transaction ends.

    Attributes:
        steps: those before it, and itself.
        seed: of the demonstration's episode.
    """

    row: OfflineAnswer
    config: RunConfig
    demonstration: DemonstrationRecord
    steps: Sequence[DemonstrationStepRecord]
    seed: int


def claim_answer(session: Session, notify: Callable[[UUID], object]) -> OfflineJob | None:
    """The next unclaimed step. Its row stays locked until the transaction ends.

    Args:
        session: the transaction.
        notify: called with its id before anything about it can fail.
    """
    row = repository.next_waiting(session)
    if row is None:
        return None
    notify(row.id)
    reevaluations.hold_long(session)
    config = RunConfig.model_validate(session.get_one(OfflineCell, row.cell_id).config)
    step = session.get_one(DemonstrationStepRecord, row.step_id)
    demonstration = session.get_one(DemonstrationRecord, step.demonstration_id)
    return OfflineJob(
        row=row,
        config=config,
        demonstration=demonstration,
        steps=demonstrations.steps_until(session, step),
        seed=episode_seed(config.seed, demonstration.key, 1),
    )


def finish(session: Session, job: OfflineJob, decision: Decision, seconds: float) -> None:
    """Stores an answer, in the transaction that claimed it."""
    row = job.row
    row.state, row.ended_at, row.message = OfflineAnswerState.ANSWERED.value, workers.now(session), ""
    row.actions = [action.model_dump(mode="json", exclude_defaults=True) for action in decision.actions]
    row.reply, row.invalid = decision.reply[:_MOST_REPLY], decision.invalid[:2000]
    row.usage, row.seconds = decision.usage.model_dump(mode="json"), round(seconds, 3)


def not_answered(session: Session, answer_id: UUID, message: str, *, is_final: bool = False) -> None:
    """Tries again later, or gives up: never a wrong answer. Does nothing if it has ended meanwhile.

    Args:
        session: the transaction.
        answer_id: the answer.
        message: why there is none.
        is_final: it would be so every time.
    """
    row = repository.get_locked(session, answer_id)
    if row is None or row.state != OfflineAnswerState.WAITING:
        return
    row.tries, row.message = row.tries + 1, message[:2000]
    now = workers.now(session)
    if is_final or row.tries >= TRIES:
        row.state, row.ended_at = OfflineAnswerState.FAILED.value, now
    else:
        row.available_at = now + PAUSE * 2 ** (row.tries - 1)


def postpone(session: Session, answer_id: UUID, message: str) -> None:
    """Tries again later without counting it: files are unavailable."""
    row = repository.get_locked(session, answer_id)
    if row is not None and row.state == OfflineAnswerState.WAITING:
        row.message, row.available_at = message[:2000], workers.now(session) + POSTPONED
