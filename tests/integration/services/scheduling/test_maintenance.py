"""The scheduler's counts and estimates, and a clock that goes back without holding them up."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, select, text, update

from backend.db.models import Episode, Run, Task
from backend.db.repositories.runs import durations
from backend.db.repositories.scheduling import scheduler
from backend.domain.errors import AttemptFailure, FailureClass
from backend.domain.machines.nodes import NodeReport, NodeState
from backend.domain.scheduling.duration_estimate import OVERHEAD, STEP_SECONDS
from backend.services.attempts import attempts
from backend.services.capacity import nodes
from backend.services.runs import duration_estimates, runs
from backend.services.scheduling import claims, maintenance
from backend.services.scheduling.maintenance import ClockWatch
from tests.factories.records import World, capabilities
from tests.factories.tasks import make_benchmark, make_task


@pytest.fixture
def queued(installation: World) -> World:
    """An installation with a benchmark of two tasks of one domain."""
    installation.benchmark(make_benchmark(*(make_task(name=f"t{n}") for n in range(2))))
    installation.worker("first", slots=0, node="n0", pid=99)
    return installation


def play(world: World, seconds: Mapping[str, float], agent: str = "noop", **more: Any) -> Run:
    """A run whose attempts took so long, by task; those not named wait."""
    run = world.submit(agent, tasks=tuple(f"files/{name}" for name in seconds), **more)
    worker = world.worker(f"w{run.id}", slots=2, node=f"n{run.id}", pid=9)
    for claim in world.do(claims.claim_many, worker.id, "local", 2):
        took = seconds[claim.task.key.name]
        world.score(claim)
        with world.work() as session:
            begun = text("UPDATE attempt SET started_at = ended_at - :took * interval '1 s' WHERE id = :id")
            session.execute(begun, {"took": took, "id": claim.attempt_id})
    return run


def expected(world: World, run: Run) -> dict[str, float]:
    with world.work() as session:
        query = select(Task.name, Episode.estimated_seconds).join(Episode, Episode.task_id == Task.id)
        return {row[0]: row[1] for row in session.execute(query.where(Episode.run_id == run.id))}


class TestExpectations:
    def test_own_history_overrides_that_of_other_agents(self, queued: World) -> None:
        play(queued, {"t0": 40.0})
        play(queued, {"t0": 20.0})
        for _ in range(2):
            play(queued, {"t0": 500.0}, "random")
        assert expected(queued, queued.submit())["t0"] == pytest.approx(30.0)
        assert expected(queued, queued.submit("always_fail"))["t0"] == pytest.approx(270.0)

    def test_the_newest_of_others_do_not_hide_it(self, queued: World, monkeypatch: pytest.MonkeyPatch) -> None:
        play(queued, {"t0": 40.0})
        for _ in range(3):
            play(queued, {"t0": 500.0}, "random")
        sampled = text(durations.MEDIANS.text.replace(f"LIMIT {durations.SAMPLE}", "LIMIT 2"))  # noqa: SLF001
        monkeypatch.setattr(durations, "MEDIANS", sampled)
        assert expected(queued, queued.submit())["t0"] == pytest.approx(40.0)

    def test_finished_tasks_update_the_estimates_of_others(self, queued: World) -> None:
        run = play(queued, {"t0": 77.0}, accepts_episodes=True)
        queued.do(runs.add_episodes, run.id, ("files/t1",))
        with queued.work() as session:
            session.execute(update(Episode).where(Episode.state == "waiting").values(estimated_seconds=1.0))
        queued.do(duration_estimates.renew, run.id)
        assert expected(queued, run)["t1"] == pytest.approx(77.0)

    def test_only_one_worker_looks_at_a_run(self, queued: World) -> None:
        run = queued.submit()
        with queued.work() as session:
            session.execute(text("UPDATE run SET estimates_updated_at = now() - interval '1 hour'"))
        with queued.work() as mine, queued.work() as other:
            assert duration_estimates.take_turn(mine) == run.id
            assert duration_estimates.take_turn(other) is None
        assert queued.do(duration_estimates.take_turn) is None

    def test_first_run_is_estimated_by_its_step_budget(self, queued: World) -> None:
        found = expected(queued, queued.submit(budget={"max_steps": 10}))
        assert found["t0"] == OVERHEAD + 10 * 0.75 * STEP_SECONDS


class TestClock:
    def ahead(self, world: World, by: timedelta) -> None:
        """As after a clock that went back: all timestamps are in the future."""
        with world.work() as session:
            session.execute(text("UPDATE episode SET available_at = available_at + :by"), {"by": by})
            session.execute(text("UPDATE attempt SET ended_at = ended_at + :by"), {"by": by})

    def test_startable_episodes_start(self, queued: World) -> None:
        worker = queued.worker(slots=2)
        queued.submit()
        self.ahead(queued, timedelta(hours=1))
        assert queued.do(claims.claim_many, worker.id, "local", 2) == []
        maintenance.keep_schedule(queued.factory, ClockWatch())
        assert len(queued.do(claims.claim_many, worker.id, "local", 2)) == 2

    def test_a_back_off_is_kept_and_not_longer(self, queued: World) -> None:
        run = queued.submit(tasks=("files/t0",))
        claim = queued.must_claim(queued.worker())
        queued.do(
            attempts.finish_lost, claim.fence, AttemptFailure(FailureClass.MODEL_API, "model_api_failed", "busy"), {}
        )
        self.ahead(queued, timedelta(hours=1))
        with queued.work() as session:
            assert scheduler.bring_back(session) == 1
            left = select(func.extract("epoch", Episode.available_at - func.now())).where(Episode.run_id == run.id)
            assert 0.0 < float(session.scalars(left).one()) < 60.0

    def test_retry_is_not_hurried_without_a_clock_change(self, queued: World) -> None:
        queued.submit(tasks=("files/t0",))
        claim = queued.must_claim(queued.worker())
        queued.do(
            attempts.finish_lost, claim.fence, AttemptFailure(FailureClass.MODEL_API, "model_api_failed", "busy"), {}
        )
        assert queued.do(scheduler.bring_back) == 0

    def test_a_jump_is_seen_by_a_steady_clock(self) -> None:
        watch, now = ClockWatch(), datetime.now(UTC)
        assert watch.went_back(now)
        watch.mark_handled(now)
        assert not watch.went_back(now + timedelta(hours=1))
        assert watch.went_back(now - timedelta(seconds=5))


class TestTurn:
    def idle(self, world: World, run: Run) -> float:
        with world.work() as session:
            return float(next(row.idle_seconds for row in scheduler.queue(session) if row.id == run.id))

    def long_ago(self, world: World) -> None:
        with world.work() as session:
            session.execute(text("UPDATE run SET last_scheduled_at = now() - interval '1 hour'"))

    def test_a_paused_run_does_not_age(self, queued: World) -> None:
        run = queued.submit()
        queued.do(runs.pause_run, run.id)
        self.long_ago(queued)
        queued.do(runs.resume_run, run.id)
        assert self.idle(queued, run) < 60.0

    def test_a_run_that_had_nothing_to_begin_does_not_age(self, queued: World) -> None:
        run = play(queued, {"t0": 1.0}, accepts_episodes=True)
        self.long_ago(queued)
        queued.do(runs.add_episodes, run.id, ("files/t1",))
        assert self.idle(queued, run) < 60.0

    def test_time_of_a_lost_attempt_does_not_count_as_waiting(self, queued: World) -> None:
        run = queued.submit(tasks=("files/t0",))
        claim = queued.must_claim(queued.worker())
        self.long_ago(queued)
        queued.do(attempts.finish_lost, claim.fence, AttemptFailure(FailureClass.GUEST, "desktop_gone", "gone"), {})
        assert self.idle(queued, run) < 60.0

    def test_other_waiting_episodes_keep_ageing(self, queued: World) -> None:
        run = queued.submit()
        claim = queued.must_claim(queued.worker())
        self.long_ago(queued)
        queued.do(attempts.finish_lost, claim.fence, AttemptFailure(FailureClass.GUEST, "desktop_gone", "gone"), {})
        assert self.idle(queued, run) > 3000.0

    def test_waiting_run_continues_to_age(self, queued: World) -> None:
        run = queued.submit(accepts_episodes=True)
        self.long_ago(queued)
        queued.do(runs.add_episodes, run.id, ("files/t1",))
        assert self.idle(queued, run) > 3000.0


class TestSlots:
    def cluster(self, world: World, most: int) -> UUID:
        offer = {"ok": True, "reason": "", "programs": [], "cluster": "c1"}
        able = capabilities(k8s=offer)
        return world.worker("k", slots_by_provider={"k8s": most}, node="k", capabilities=able).id

    def nodes(self, world: World, slots: int) -> None:
        seen = NodeReport(name="a", state=NodeState.READY, slots=slots)
        world.do(nodes.observe, "c1", [seen], whole=True)

    def test_cluster_slots_are_limited_by_its_workers(self, queued: World) -> None:
        self.cluster(queued, most=2)
        self.nodes(queued, slots=5)
        assert queued.do(scheduler.slots, "k8s") == (2, 2)

    def test_cluster_slots_need_a_worker(self, queued: World) -> None:
        worker = self.cluster(queued, most=2)
        self.nodes(queued, slots=5)
        queued.do(claims.drain, worker)
        assert queued.do(scheduler.slots, "k8s") == (0, 0)
