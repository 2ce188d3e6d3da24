"""Runs and tasks that a worker's release cannot read: they wait for another worker, and hold nobody else up."""

from uuid import UUID, uuid4

import pytest
from sqlalchemy import func, select, update

from backend.db.models import Attempt, Episode, Run, Task
from backend.domain.model.reason import Reason, ReasonCode
from backend.services.runs import config_cache, duration_estimates
from backend.services.runs.views import home
from backend.services.scheduling import claims
from backend.services.scheduling.claims import Claim
from backend.services.scheduling.wait_reasons import explain
from tests.factories.records import World
from tests.factories.tasks import make_benchmark, make_task


@pytest.fixture
def queued(installation: World) -> World:
    """An installation with a benchmark of three tasks."""
    installation.benchmark(make_benchmark(*(make_task(name=f"t{n}") for n in range(3))))
    return installation


def of_another_release(world: World, model: type[Run] | type[Task], key: UUID, column: str) -> None:
    """Writes a field that no release knows into a run's configuration or a task."""
    with world.work() as session:
        newer = getattr(model, column).op("||")(func.jsonb_build_object("of_tomorrow", 1))
        session.execute(update(model).where(model.id == key).values({column: newer}))


def reasons(world: World, run: Run) -> dict[UUID, Reason]:
    with world.work() as session:
        rows = session.scalars(select(Episode).where(Episode.run_id == run.id)).all()
        waits = {row.task_id: explain(session, [row]).get(row.id) for row in rows}
        return {task_id: Reason(wait.reason_code, wait.reason) for task_id, wait in waits.items() if wait}


def taken(world: World, worker_id: UUID, number: int = 9) -> list[Claim]:
    found: list[Claim] = world.do(claims.claim_many, worker_id, "local", number)
    return found


class TestRun:
    def test_unreadable_run_does_not_block_others(self, queued: World) -> None:
        worker = queued.worker(slots=9)
        poisoned, sound = queued.submit(), queued.submit()
        of_another_release(queued, Run, poisoned.id, "config")
        assert [claim.run_id for claim in taken(queued, worker.id)] == [sound.id] * 3
        (reason,) = set(reasons(queued, poisoned).values())
        assert reason.code is ReasonCode.WORKER_CANNOT_READ
        assert "w1 (release 1)" in reason.text
        assert "of_tomorrow" in reason.text

    def test_unreadable_run_is_not_read_again(self, queued: World) -> None:
        worker = queued.worker(slots=9)
        poisoned = queued.submit()
        of_another_release(queued, Run, poisoned.id, "config")
        assert taken(queued, worker.id) == []
        assert poisoned.id in config_cache.unread_runs()
        with queued.work() as session:
            assert session.get_one(Run, poisoned.id).state == "queued"

    def test_a_retried_episode_has_the_same_reason(self, queued: World) -> None:
        worker = queued.worker(slots=1)
        poisoned = queued.submit()
        queued.lose(taken(queued, worker.id, 1)[0])
        # The worker has read other runs since: nothing of this one is cached.
        for _ in range(config_cache.MOST_ENTRIES):
            config_cache.config_of(uuid4(), {"agent": "noop"})
        of_another_release(queued, Run, poisoned.id, "config")
        assert taken(queued, worker.id) == []
        codes = [reason.code for reason in reasons(queued, poisoned).values()]
        assert codes == [ReasonCode.WORKER_CANNOT_READ] * 3

    def test_estimates_of_an_unreadable_run_are_left_to_others(self, queued: World) -> None:
        queued.worker()
        poisoned = queued.submit()
        of_another_release(queued, Run, poisoned.id, "config")
        assert queued.do(duration_estimates.renew, poisoned.id) == 0


class TestTask:
    def test_unreadable_task_does_not_block_others(self, queued: World) -> None:
        worker = queued.worker(slots=2)
        run = queued.submit()
        with queued.work() as session:
            first = session.scalars(select(Task.id).where(Task.name == "t0")).one()
        of_another_release(queued, Task, first, "spec")
        found = taken(queued, worker.id, 2)
        assert sorted(str(claim.task.key) for claim in found) == ["files/t1", "files/t2"]
        assert list(reasons(queued, run)) == [first]
        (told,) = queued.do(home.home).queue
        assert (told.reason, told.episodes) == (reasons(queued, run)[first], 1)
        assert told.reason.code is ReasonCode.WORKER_CANNOT_READ
        assert "(of_tomorrow" in told.reason.text

    def test_episode_of_an_unreadable_task_is_unchanged(self, queued: World) -> None:
        worker = queued.worker(slots=9)
        queued.submit()
        with queued.work() as session:
            first = session.scalars(select(Task.id).where(Task.name == "t0")).one()
        of_another_release(queued, Task, first, "spec")
        claim = taken(queued, worker.id)[0]
        queued.score(claim)
        assert len(taken(queued, worker.id)) == 0
        with queued.work() as session:
            episode = session.scalars(select(Episode).where(Episode.task_id == first)).one()
            assert (episode.state, episode.attempt_count, episode.started_at) == ("waiting", 0, None)
            assert session.scalar(select(func.count()).select_from(Attempt)) == 2

    def test_lease_continues_with_the_next_task(self, queued: World) -> None:
        worker = queued.worker(slots=1)
        queued.submit()
        queued.in_order()
        (claim,) = taken(queued, worker.id)
        with queued.work() as session:
            second = session.scalars(select(Task.id).where(Task.name == "t1")).one()
        of_another_release(queued, Task, second, "spec")
        queued.run_to_evaluation(claim)
        queued.score_only(claim)
        following: Claim | None = queued.do(claims.claim_next, claim.lease_id)
        assert following is not None
        assert following.task.key.name == "t2"
