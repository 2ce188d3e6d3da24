"""Episodes with known tokens, costs and times."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import update

from backend.db.models import Attempt, Run
from backend.domain.model.episode import EndedBy
from backend.domain.model.trajectory import Decision, Observation, StepRecord, Usage
from backend.services.attempts import attempts
from backend.services.attempts.attempts import StepRow
from backend.services.scheduling import claims
from backend.services.scheduling.claims import Claim
from tests.factories.records import World, evaluation

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
MODEL = {"asked": "small-1", "price": {"since": "2026-11-01"}}


def spend(world: World, claim: Claim, usages: Sequence[Usage], score: float = 1.0) -> None:
    """Through the life of an attempt whose steps used these."""
    world.begin(claim)
    for index, usage in enumerate(usages):
        decision = Decision(usage=usage, actions=(), explanation="")
        record = StepRecord(index=index, observation=Observation(index=index), decision=decision, results=())
        world.do(attempts.record_step, claim.fence, StepRow(record=record))
    world.do(attempts.enter_evaluating, claim.fence, EndedBy.DONE, {"agent": 2.0})
    world.do(attempts.finish_scored, claim.fence, evaluation(score), [], {})
    world.do(claims.release_lease, claim.lease_id, "done")


def last(world: World, attempt_id: UUID, start: float, seconds: float) -> None:
    """Gives an ended attempt its time: it starts so many seconds after noon."""
    began = NOON + timedelta(seconds=start)
    values = {"started_at": began, "ended_at": began + timedelta(seconds=seconds)}
    with world.work() as session:
        session.execute(update(Attempt).where(Attempt.id == attempt_id).values(values))


def pin_model(world: World, run_id: UUID, model: object = None) -> None:
    """The run was submitted with this model."""
    with world.work() as session:
        run = session.get_one(Run, run_id)
        run.pins = {**run.pins, "model": model or MODEL}


def computed_again(world: World) -> None:
    """Roll-ups of what was written behind the service's back."""
    world.do(lambda session: session.execute(update(Run).values(rollup_stale=True)))
    world.roll_up()
