"""The real scheduler under simulated workers that fail at random moments: what must hold holds afterwards."""

import random
from collections import Counter
from collections.abc import Iterator

import pytest
from sqlalchemy import func, select, update

from backend.db.models import Episode, Project, Run
from backend.domain.errors import DeskarenaError, FailureClass
from backend.services import events
from backend.services.lifecycle import lease_reaper
from backend.services.scheduling.claims import Claim
from tests.factories.records import World
from tests.sampling import seed
from tools.simulator.clock import SimulationClock
from tools.simulator.durations import Length
from tools.simulator.installations import ProjectShare, import_tasks, real_time, submit_all, virtual_time
from tools.simulator.invariants import double_leases, violations
from tools.simulator.journal import Journal
from tools.simulator.timelines import RealTime, Timeline, VirtualTime
from tools.simulator.workers import AttemptOutcome, SimulatedWorker, SimulationContext

TASKS, NODES, SLOTS = 6, 3, 2
EPISODES = 3 * TASKS
LEASE_SECONDS = 15.0
QUOTAS = {"a": 3, "b": 1}
"""Desktops at once, of six: the workers always have more free slots than a project may fill."""


@pytest.fixture(autouse=True)
def _no_broker() -> Iterator[None]:
    events.configure("")
    yield
    events.configure("")


class SimulatedFaults:
    """Workers that are killed and replaced, losses, and a reaper; `scale` makes all times shorter."""

    def __init__(self, world: World, timeline: Timeline, scale: float = 1.0) -> None:
        self.world, self.timeline, self.scale = world, timeline, scale
        self.generator = random.Random(seed())  # noqa: S311 - a sample
        self.journal = Journal()
        self.setting = SimulationContext(world, timeline, self.journal, self.fate, beat=5.0 * scale, poll=2.0 * scale)
        self.workers = [SimulatedWorker(self.setting, f"n{number}", SLOTS) for number in range(NODES)]
        self.runs = submit_all(world, [ProjectShare("a", runs=[{}, {"repeats": 1}]), ProjectShare("b")])
        self.most: Counter[str] = Counter()
        with world.work() as session:
            for name, quota in QUOTAS.items():
                session.execute(update(Project).where(Project.name == name).values(quota={"local": quota}))
        self.kills = 0
        self.errors: list[DeskarenaError] = []

    def fate(self, _: Claim) -> AttemptOutcome:
        draw = self.generator.random
        length = Length(draw() * 5 * self.scale, draw() * 60 * self.scale, draw() * 5 * self.scale)
        loss = self.generator.choice([FailureClass.GUEST, FailureClass.CLUSTER]) if draw() < 0.1 else None
        return AttemptOutcome(length, score=round(draw(), 1), loss=loss)

    def start(self) -> None:
        for worker in self.workers:
            worker.start()
        self.timeline.later(0.0, self.reap)
        self.timeline.later(0.0, self.look)
        for _ in range(NODES):
            self.timeline.later(self.generator.random() * 90 * self.scale, self.kill)

    def reap(self) -> None:
        self.world.do(lease_reaper.reap, lease_seconds=LEASE_SECONDS * self.scale)
        self.timeline.later(2.0 * self.scale, self.reap)

    def look(self) -> None:
        """One consistent snapshot of all desktops in use, while others start."""
        busy = select(Project.name, func.count()).join(Run, Run.project_id == Project.id)
        busy = busy.join(Episode, Episode.run_id == Run.id).where(Episode.state == "running").group_by(Project.name)
        with self.world.work() as session:
            self.most |= Counter({row[0]: row[1] for row in session.execute(busy)})
        self.timeline.later(1.0 * self.scale, self.look)

    def kill(self) -> None:
        """A worker dies without a word; another process takes its node over a little later."""
        living = [at for at, worker in enumerate(self.workers) if not worker.dead]
        at = self.generator.choice(living)
        self.workers[at].kill()
        self.kills += 1
        self.timeline.later(self.generator.random() * 20 * self.scale, lambda: self.replace(at))

    def replace(self, at: int) -> None:
        self.errors += self.workers[at].errors
        self.workers[at] = SimulatedWorker(self.setting, f"n{at}", SLOTS)
        self.workers[at].start()

    def over(self) -> bool:
        with self.world.work() as session:
            return not session.scalar(select(Episode.id).where(Episode.state.in_(["waiting", "running"])).limit(1))

    def check(self) -> None:
        self.errors += [error for worker in self.workers for error in worker.errors]
        with self.world.work() as session:
            assert violations(session) == []
        assert double_leases(self.journal.all()) == []
        assert {name: self.most[name] for name in QUOTAS if self.most[name] > QUOTAS[name]} == {}
        assert self.most.keys() == QUOTAS.keys()
        assert [error.message for error in self.errors if "deadlock" in error.message] == []
        assert self.kills > 0


@pytest.mark.sampled(1)
class TestVirtualTime:
    def test_every_episode_ends_once_though_workers_die(self, postgres_server: str) -> None:
        clock = SimulationClock()
        with virtual_time(postgres_server, clock) as world:
            import_tasks(world, TASKS)
            faults = SimulatedFaults(world, VirtualTime(clock))
            faults.start()
            faults.timeline.run(faults.over, most=7200.0)  # type: ignore[attr-defined]
            faults.check()

    @pytest.mark.parametrize("jump", [-60.0, 3600.0])
    def test_a_clock_that_jumps_loses_no_episode(self, postgres_server: str, jump: float) -> None:
        def jumps() -> None:
            clock.jumped += jump

        clock = SimulationClock()
        with virtual_time(postgres_server, clock) as world:
            import_tasks(world, TASKS)
            faults = SimulatedFaults(world, VirtualTime(clock))
            faults.start()
            faults.timeline.later(20.0, jumps)
            faults.timeline.run(faults.over, most=7200.0)  # type: ignore[attr-defined]
            faults.check()


class TestRealTime:
    def test_the_same_with_threads_that_meet_in_the_database(self, postgres_server: str) -> None:
        with real_time(postgres_server) as world:
            import_tasks(world, TASKS)
            timeline = RealTime(threads=6)
            faults = SimulatedFaults(world, timeline, scale=0.02)
            faults.start()
            timeline.run(faults.over, most=120.0)
            faults.check()
