"""Times and progress of a run's attempts, as pages show them."""

from uuid import UUID

import pytest
from sqlalchemy import text

from backend.domain.errors import AttemptFailure, FailureClass
from backend.domain.model.episode import EndedBy
from backend.services.attempts import attempts
from backend.services.runs.views import run_page
from backend.services.runs.views.episode_page import episode_page, phases_of
from backend.services.runs.views.task_history import task_history
from backend.services.scheduling import claims
from backend.services.scheduling.claims import Claim
from tests.factories.records import World


def went(world: World, run_id: UUID) -> dict[str, float]:
    page = world.do(run_page.run_page, run_id, run_page.RunPageQuery({}))
    return {phase.name: phase.seconds for phase in page.phases}


def times(world: World, claim: Claim) -> dict[str, float]:
    """Seconds by phase of an episode's only attempt, as its page has them."""
    (attempt,) = world.do(episode_page, claim.episode_id, None).attempts
    return {phase.name: phase.seconds for phase in phases_of(attempt) if phase.seconds}


def begun(world: World, claim: Claim, seconds: float) -> None:
    """An attempt that started `ago`, with reset (0.5 s) and set-up (1 s)."""
    world.begin(claim)
    with world.work() as session:
        ago = text("UPDATE attempt SET started_at = now() - make_interval(secs => :seconds) WHERE id = :id")
        session.execute(ago, {"seconds": seconds, "id": claim.attempt_id})


class TestPhases:
    def test_time_of_an_unaccounted_attempt_is_counted(self, ready: World) -> None:
        worker, run = ready.worker(), ready.submit(tasks=("files/?",))
        for seconds in (30.0, 60.0):
            begun(ready, ready.must_claim(worker), seconds)
        assert went(ready, run.id) == {"reset": 1.0, "setup": 2.0}
        ready.do(claims.reap, lease_seconds=-1.0)
        found = went(ready, run.id)
        assert found.pop("lost") == pytest.approx(87.0, abs=20.0)
        assert found == {"reset": 1.0, "setup": 2.0}

    def test_episode_page_shows_unaccounted_time(self, ready: World) -> None:
        worker, _ = ready.worker(), ready.submit(tasks=("files/a",))
        claim = ready.must_claim(worker)
        begun(ready, claim, 30.0)
        assert times(ready, claim) == {"reset": 0.5, "setup": 1.0}
        ready.do(claims.reap, lease_seconds=-1.0)
        found = times(ready, claim)
        assert found.pop("lost") == pytest.approx(28.5, abs=10.0)
        assert found == {"reset": 0.5, "setup": 1.0}

    def test_usage_reported_by_a_worker_is_counted_once(self, ready: World) -> None:
        worker, run = ready.worker(), ready.submit(tasks=("files/?",))
        stopped, broken = (ready.must_claim(worker) for _ in range(2))
        for claim, failure in ((stopped, FailureClass.CLUSTER), (broken, FailureClass.GUEST)):
            begun(ready, claim, 30.0)
            told = {"agent": 40.0}
            ready.do(
                attempts.finish_lost,
                claim.fence,
                AttemptFailure(failure, "worker_broke", "it broke"),
                told,
                after_action=False,
            )
        assert went(ready, run.id) == {"reset": 1.0, "setup": 2.0, "agent": 80.0}


class TestHistoryOfATask:
    def test_counts_the_steps_of_the_attempt_under_way(self, ready: World) -> None:
        worker, _ = ready.worker(), ready.submit(tasks=("files/a",))
        claim = ready.must_claim(worker)
        ready.begin(claim)
        for index in range(3):
            ready.step(claim, index)
        (past,) = ready.do(task_history, claim.task_id).episodes
        assert past.episode.steps == 3
        ready.do(attempts.enter_evaluating, claim.fence, EndedBy.DONE, {})
        ready.score_only(claim)
        (past,) = ready.do(task_history, claim.task_id).episodes
        assert past.episode.steps == 3
