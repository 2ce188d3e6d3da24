"""Workers die at any moment: no episode is lost by it, none counted twice."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from backend.db.models import Attempt, Episode, Lease, Slot, Worker
from backend.db.repositories.capacity import leases
from backend.db.repositories.capacity import workers as worker_repository
from backend.db.repositories.runs import runs
from backend.domain.errors import LeaseLost, NotFound
from backend.services.capacity import workers
from backend.services.lifecycle import lease_reaper
from backend.services.scheduling import claims, maintenance
from tests.factories.records import World
from tests.factories.tasks import make_benchmark, make_task
from tests.waiting import until


class TestReap:
    def test_leaves_what_is_alive(self, ready: World) -> None:
        worker = ready.worker()
        ready.submit()
        claim = ready.must_claim(worker)
        assert ready.do(claims.reap) == []
        assert ready.do(claims.worker_heartbeat, worker.id, [claim.lease_id]) == {claim.lease_id}

    def test_takes_what_fell_silent(self, ready: World) -> None:
        worker = ready.worker()
        ready.submit()
        claim = ready.must_claim(worker)
        with ready.work() as session:
            later = worker_repository.now(session) + timedelta(seconds=11)
        assert ready.do(claims.reap, later, lease_seconds=10.0) == [claim.attempt_id]
        with ready.work() as session:
            attempt, episode = session.get_one(Attempt, claim.attempt_id), session.get_one(Episode, claim.episode_id)
            assert (attempt.state, attempt.failure_class, attempt.failure_code) == ("lost", "cluster", "worker_silent")
            assert episode.state == "waiting"
            assert session.get_one(Worker, worker.id).state == "offline"
            assert session.get_one(Lease, claim.lease_id).released_at is not None

    def test_another_attempt_finishes_the_episode_and_one_score_counts(self, ready: World) -> None:
        first, second = ready.worker("w1", node="n1"), ready.worker("w2", node="n2")
        ready.submit(tasks=("files/a",))
        dead = ready.must_claim(first)
        ready.run_to_evaluation(dead)
        ready.do(claims.reap, lease_seconds=-1.0)
        ready.do(claims.worker_heartbeat, second.id, [])
        ready.score(ready.must_claim(second))
        with ready.work() as session:
            made = session.scalars(select(Attempt).order_by(Attempt.number)).all()
            assert [(row.number, row.state, row.failure_class) for row in made] == [
                (1, "lost", "cluster"),
                (2, "scored", None),
            ]
            assert session.scalars(select(Episode)).one().score == 1.0

    def test_many_reapers_take_each_lease_once(self, installation: World) -> None:
        installation.benchmark(make_benchmark(*(make_task(name=f"t{n}") for n in range(12))))
        worker = installation.worker(slots=12)
        for _ in range(3):
            installation.submit(tasks=("files/t?",))
        claimed = {installation.must_claim(worker).attempt_id for _ in range(12)}
        with ThreadPoolExecutor(6) as pool:
            parts = list(pool.map(lambda _: installation.do(claims.reap, lease_seconds=-1.0), range(6)))
        taken = [attempt for part in parts for attempt in part]
        # A reaper passes over a lease that another one is at; the next poll of anybody takes what is left.
        taken += installation.do(claims.reap, lease_seconds=-1.0)
        assert sorted(taken) == sorted(claimed)

    def test_races_with_a_worker_that_writes(self, installation: World) -> None:
        """Either the score stands or the attempt is lost, never both, and never neither."""
        installation.benchmark(make_benchmark(*(make_task(name=f"t{n}") for n in range(8))))
        worker = installation.worker(slots=8)
        installation.submit()
        claimed = [installation.must_claim(worker) for _ in range(8)]
        for claim in claimed:
            installation.run_to_evaluation(claim, steps=1)

        def finish(number: int) -> str:
            if number >= len(claimed):
                return f"reaped {len(installation.do(claims.reap, lease_seconds=-1.0))}"
            try:
                installation.score_only(claimed[number])
            except LeaseLost:
                return "refused"
            return "scored"

        with ThreadPoolExecutor(5) as pool:
            results = list(pool.map(finish, [0, 1, 8, 2, 3, 9, 4, 5, 10, 6, 7]))
        with installation.work() as session:
            states = [row.state for row in session.scalars(select(Episode))]
            live = session.scalars(select(Attempt).where(Attempt.live)).all()
        assert states.count("scored") == results.count("scored")
        assert states.count("scored") + states.count("waiting") == 8
        assert live == []

    def test_holds_no_lease_while_it_waits_for_a_run(self, installation: World) -> None:
        """Who finishes an attempt holds its run and asks for its lease: the other way round both would wait."""
        installation.benchmark(make_benchmark(make_task(name="a"), make_task(name="b")))
        worker = installation.worker()
        run = installation.submit()
        idle, claim = installation.must_claim(worker), installation.must_claim(worker)
        installation.run_to_evaluation(idle)
        installation.score_only(idle)
        with ThreadPoolExecutor(1) as pool, installation.work() as session:
            runs.lock(session, run.id)
            reaper = pool.submit(installation.do, claims.reap, lease_seconds=-1.0)
            until(lambda: installation.do(waiting_for_a_lock), what="the reaper waits for the run")
            session.execute(text("SET LOCAL lock_timeout = '5s'"))
            assert leases.lock(session, idle.lease_id) is not None
            session.commit()
            assert reaper.result(timeout=30) == [claim.attempt_id]


def waiting_for_a_lock(session: Session) -> bool:
    query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    return bool(session.scalar(text(query)))


class TestReleaseLease:
    def test_a_live_attempt_on_it_is_lost(self, ready: World) -> None:
        worker = ready.worker()
        ready.submit()
        claim = ready.must_claim(worker)
        ready.do(claims.release_lease, claim.lease_id, "the worker stops")
        ready.do(claims.release_lease, claim.lease_id, "twice")
        with ready.work() as session:
            attempt = session.get_one(Attempt, claim.attempt_id)
            assert (attempt.failure_class, attempt.failure_code) == ("cluster", "lease_released")
            assert attempt.failure_message == "the worker stops"
            assert session.get_one(Lease, claim.lease_id).release_reason == "the worker stops"

    def test_frees_the_slot(self, ready: World) -> None:
        worker = ready.worker(slots=1)
        ready.submit()
        ready.do(claims.release_lease, ready.must_claim(worker).lease_id, "done")
        assert ready.claim(worker) is not None


class TestRegisterWorker:
    def test_ends_what_died_on_the_same_host_at_once(self, ready: World) -> None:
        dead = ready.worker("old", pid=100)
        ready.submit()
        claim = ready.must_claim(dead)
        new = ready.worker("new", pid=200, running=lambda _: False)
        with ready.work() as session:
            assert session.get_one(Worker, dead.id).state == "offline"
            assert session.get_one(Attempt, claim.attempt_id).failure_code == "worker_gone"
        assert ready.must_claim(new).episode_id == claim.episode_id

    def test_leaves_other_hosts_and_living_neighbours(self, ready: World) -> None:
        here, there = ready.worker("a", pid=1, node="n1"), ready.worker("b", pid=2, node="n2")
        ready.worker("c", pid=3, node="n1", running=lambda _: True)
        with ready.work() as session:
            assert session.get_one(Worker, here.id).state == session.get_one(Worker, there.id).state == "online"

    def test_makes_slots_and_empties_those_too_many(self, ready: World) -> None:
        ready.worker(slots=3)
        ready.worker("again", slots=1)
        with ready.work() as session:
            states = {slot.index: slot.state for slot in session.scalars(select(Slot))}
        assert states == {0: "free", 1: "draining", 2: "draining"}
        ready.worker("third", slots=2)
        with ready.work() as session:
            assert {s.index: s.state for s in session.scalars(select(Slot))} == {0: "free", 1: "free", 2: "draining"}

    def test_two_at_once_share_the_nodes_slots(self, ready: World) -> None:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda n: ready.worker(f"w{n}", pid=n, slots=2), range(4)))
        with ready.work() as session:
            assert len(session.scalars(select(Slot)).all()) == 2


class TestIsRunning:
    def test_running_process_is_running(self, ready: World) -> None:
        worker = ready.worker(pid=os.getpid())
        assert workers.is_running(worker)

    def test_ended_process_is_not_running(self, ready: World) -> None:
        child = subprocess.Popen([sys.executable, "-c", "pass"])
        worker = ready.worker(pid=child.pid)
        child.wait()
        assert not workers.is_running(worker)

    def test_reused_pid_is_not_running(self, ready: World) -> None:
        worker = ready.worker(pid=os.getpid())
        worker.started_at -= timedelta(days=1)
        assert not workers.is_running(worker)


class TestHeartbeat:
    def test_says_which_leases_are_gone(self, ready: World) -> None:
        worker = ready.worker()
        ready.submit()
        kept, gone = ready.must_claim(worker), ready.must_claim(worker)
        ready.do(claims.release_lease, gone.lease_id, "x")
        assert ready.do(claims.worker_heartbeat, worker.id, [kept.lease_id, gone.lease_id]) == {kept.lease_id}

    def test_never_renews_another_workers_lease(self, ready: World) -> None:
        mine, other = ready.worker("a"), ready.worker("b", pid=2)
        ready.submit()
        claim = ready.must_claim(mine)
        assert ready.do(claims.worker_heartbeat, other.id, [claim.lease_id]) == set()

    def test_brings_a_worker_back_that_was_given_up(self, ready: World) -> None:
        worker = ready.worker()
        ready.do(claims.reap, lease_seconds=-1.0)
        ready.do(claims.worker_heartbeat, worker.id, [])
        with ready.work() as session:
            assert session.get_one(Worker, worker.id).state == "online"

    def test_a_draining_worker_keeps_draining(self, ready: World) -> None:
        worker = ready.worker()
        ready.do(claims.drain, worker.id)
        ready.do(claims.worker_heartbeat, worker.id, [])
        with ready.work() as session:
            assert session.get_one(Worker, worker.id).state == "draining"

    def test_an_unknown_worker_is_reported(self, ready: World) -> None:
        from uuid_utils.compat import uuid7

        with pytest.raises(NotFound):
            ready.do(claims.worker_heartbeat, uuid7(), [])


class TestSignOff:
    def test_everything_it_held_is_free_at_once(self, ready: World) -> None:
        worker = ready.worker()
        ready.submit()
        claim = ready.must_claim(worker)
        ready.do(lease_reaper.sign_off, worker.id)
        with ready.work() as session:
            assert session.get_one(Worker, worker.id).state == "offline"
            assert session.get_one(Episode, claim.episode_id).state == "waiting"


class TestAfterTheClockWentBack:
    def test_the_dead_are_missed_as_soon_as_ever(self, ready: World) -> None:
        worker = ready.worker()
        ready.submit()
        claim = ready.must_claim(worker)
        with ready.work() as session:
            now = worker_repository.now(session)
            session.get_one(Lease, claim.lease_id).heartbeat_at = now + timedelta(hours=1)
            session.get_one(Worker, worker.id).heartbeat_at = now + timedelta(hours=1)
        assert ready.do(lease_reaper.reap, now, lease_seconds=15.0) == []
        later = now + timedelta(seconds=16)
        assert ready.do(lease_reaper.reap, later, lease_seconds=15.0) == [claim.attempt_id]
        with ready.work() as session:
            assert session.get_one(Worker, worker.id).state == "offline"

    def test_live_worker_keeps_its_lease(self, ready: World) -> None:
        worker = ready.worker()
        ready.submit()
        claim = ready.must_claim(worker)
        with ready.work() as session:
            session.get_one(Lease, claim.lease_id).heartbeat_at = worker_repository.now(session) + timedelta(hours=1)
        assert ready.do(lease_reaper.reap) == []
        assert ready.do(claims.worker_heartbeat, worker.id, [claim.lease_id]) == {claim.lease_id}
        assert ready.do(lease_reaper.reap) == []


class TestTend:
    def test_reaps_and_brings_roll_ups_up_to_date(self, ready: World) -> None:
        from backend.db.repositories.results import rollup_jobs as turns
        from backend.db.repositories.results import rollups
        from backend.services.results import rollup_jobs

        worker = ready.worker()
        run = ready.submit()
        claim = ready.must_claim(worker)
        assert maintenance.tend(ready.factory, lease_seconds=-1.0) == [claim.attempt_id]
        assert rollup_jobs.renew_due(ready.factory) == 1
        with ready.work() as session:
            assert turns.behind_among(session, [run.id]) == set()
            assert {row.key: row.waiting for row in rollups.of_runs(session, [run.id], ["all"])} == {"": 3}


class TestAfterTheDatabaseWasAway:
    def test_everybody_gets_the_full_time_again(self, ready: World, monkeypatch: pytest.MonkeyPatch) -> None:
        worker = ready.worker()
        ready.submit()
        claim = ready.must_claim(worker)
        with ready.work() as session:
            now = worker_repository.now(session)
        monkeypatch.setattr(worker_repository, "server_started", lambda _: now + timedelta(seconds=55))
        assert ready.do(claims.reap, now + timedelta(seconds=60), lease_seconds=10.0) == []
        assert ready.do(claims.reap, now + timedelta(seconds=66), lease_seconds=10.0) == [claim.attempt_id]
