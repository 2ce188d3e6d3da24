"""Workers that die at every point of an attempt, reapers that are too eager: no episode lost, none counted twice."""

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from backend.db.models import Attempt, Episode, Evaluation, Event, Lease, Run, Step, Worker
from backend.domain.errors import LeaseLost
from backend.domain.model.episode import EndedBy
from backend.services.attempts import attempts
from backend.services.runs import runs
from backend.services.scheduling import claims
from backend.services.scheduling.claims import Claim
from tests.factories.records import World, evaluation
from tests.factories.tasks import make_benchmark, make_task
from tests.sampling import seed
from tests.waiting import until

LEASE_SECONDS = 1.0
TASKS, REPEATS, WORKERS = 5, 2, 4


class Crash(Exception):
    """The process is gone: it does nothing more, not even give its lease back."""


def attempt(installation: World, claim: Claim, generator: random.Random) -> None:
    """A whole attempt; before each write the worker may die or be frozen beyond its lease."""

    def fate() -> None:
        luck = generator.random()
        if luck < 0.04:
            raise Crash
        if luck < 0.06:
            frozen = time.monotonic() + LEASE_SECONDS * 1.5
            until(lambda: time.monotonic() >= frozen)
        elif not installation.do(claims.worker_heartbeat, worker_of(installation, claim), [claim.lease_id]):
            raise LeaseLost("the heartbeat says so")

    fate()
    installation.do(attempts.enter_running, claim.fence, {})
    for index in range(2):
        fate()
        installation.step(claim, index)
    fate()
    installation.do(attempts.enter_evaluating, claim.fence, EndedBy.DONE, {})
    fate()
    for _ in range(generator.choice([1, 1, 2])):  # the answer to the first commit may not have arrived
        installation.do(attempts.finish_scored, claim.fence, evaluation(0.5), [], {})
    fate()
    installation.do(claims.release_lease, claim.lease_id, "done")


def worker_of(installation: World, claim: Claim) -> object:
    with installation.work() as session:
        return session.get_one(Lease, claim.lease_id).worker_id


def work(installation: World, worker: Worker, generator: random.Random, over: threading.Event) -> None:
    """A worker process that is started again whenever it died."""
    while not over.is_set():
        installation.do(claims.worker_heartbeat, worker.id, [])
        claim = installation.claim(worker)
        if claim is None:
            over.wait(0.05)
            continue
        try:
            attempt(installation, claim, generator)
        except Crash:
            pass
        except LeaseLost:
            continue


def ended(installation: World, run: Run) -> bool:
    with installation.work() as session:
        return session.get_one(Run, run.id).state == "completed"


class TestCrashes:
    @pytest.mark.parametrize("round_", range(2))
    def test_every_episode_ends_once(self, installation: World, round_: int) -> None:
        installation.benchmark(make_benchmark(*(make_task(name=f"t{n}") for n in range(TASKS))))
        workers = [installation.worker(f"w{n}", node=f"n{n}", slots=3) for n in range(WORKERS)]
        run = installation.submit(repeats=REPEATS)
        over = threading.Event()
        with ThreadPoolExecutor(WORKERS) as pool:
            busy = [
                pool.submit(work, installation, worker, random.Random(seed() + 10 * round_ + n), over)  # noqa: S311
                for n, worker in enumerate(workers)
            ]
            deadline = time.monotonic() + 240
            while not ended(installation, run) and time.monotonic() < deadline:
                installation.do(claims.reap, lease_seconds=LEASE_SECONDS)
                over.wait(0.1)
            over.set()
            for part in busy:
                part.result()
        installation.do(claims.reap, lease_seconds=-1.0)
        self.check(installation, run)

    def check(self, installation: World, run: Run) -> None:
        with installation.work() as session:
            rows = session.scalars(select(Episode).where(Episode.run_id == run.id)).all()
            made = session.scalars(select(Attempt)).all()
            verdicts = session.scalars(select(Evaluation.attempt_id)).all()
            numbers = list(session.scalars(select(Event.seq).where(Event.run_id == run.id).order_by(Event.seq)))
            steps = [(step.attempt_id, step.index) for step in session.scalars(select(Step))]
            held = session.scalars(select(Lease).where(Lease.released_at.is_(None))).all()
        assert ended(installation, run)
        assert len(rows) == TASKS * REPEATS
        for episode in rows:
            mine = [row for row in made if row.episode_id == episode.id]
            scored = [row for row in mine if row.state == "scored"]
            assert episode.outcome in {"scored", "lost"}
            assert len(scored) == (episode.outcome == "scored")
            assert sorted(row.number for row in mine) == list(range(1, episode.attempt_count + 1))
            assert not any(row.live for row in mine)
            assert all(row.failure_class == "cluster" for row in mine if row.state == "lost")
        assert sorted(verdicts) == sorted(row.id for row in made if row.state == "scored")
        assert numbers == list(range(1, len(numbers) + 1))
        assert len(steps) == len(set(steps))
        assert held == []
        summary = installation.do(runs.run_summary, run.id)
        assert summary.counts.scored + summary.counts.lost == summary.episodes == TASKS * REPEATS
