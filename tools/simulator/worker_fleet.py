"""Thousands of nodes in virtual time: every episode of WAA's tasks ends once, and no slot is leased twice."""

from dataclasses import dataclass

from backend.services.scheduling.claims import Claim
from tools.simulator.clock import SimulationClock
from tools.simulator.durations import played, typical_lengths, waa_tasks
from tools.simulator.installations import ProjectShare, import_waa, submit, virtual_time
from tools.simulator.invariants import double_leases, violations
from tools.simulator.journal import Journal
from tools.simulator.timelines import VirtualTime
from tools.simulator.workers import AttemptOutcome, SimulatedWorker, SimulationContext

NODES, SLOTS, REPEATS = 2_000, 1, 16
"""2,000 slots for 2,464 episodes."""
MOST = 24 * 3600.0


@dataclass(frozen=True)
class FleetResult:
    """Result of a simulated fleet.

    Attributes:
        episodes: that have ended.
        slots: that had one of them.
        seconds: of virtual time until the last ended.
        violations: descriptions; expected to be empty.
    """

    episodes: int
    slots: int
    seconds: float
    violations: list[str]


def crowd(server: str, nodes: int = NODES, slots: int = SLOTS, repeats: int = REPEATS) -> FleetResult:
    """Plays WAA's tasks a number of times, on nodes with a worker and the same number of slots each."""
    clock = SimulationClock()
    with virtual_time(server, clock) as world:
        import_waa(world)
        names = [f"{task.domain}/{task.name}" for task in waa_tasks()]
        lengths = dict(zip(names, played(typical_lengths(seed=0), seed=0), strict=True))
        timeline, journal = VirtualTime(clock), Journal()

        def fate(claim: Claim) -> AttemptOutcome:
            return AttemptOutcome(lengths[str(claim.task.key)], steps=0)

        # Without reaper and with automatic slots, heartbeats and polls would only cost time.
        setting = SimulationContext(world, timeline, journal, fate, beat=1e6, poll=60.0)
        workers = [SimulatedWorker(setting, f"n{at:04}", slots) for at in range(nodes)]
        submit(world, ProjectShare("crowd"), repeats=repeats)
        for worker in workers:
            worker.start()
        timeline.run(lambda: len(journal.ended) >= repeats * len(names), most=MOST)
        with world.work() as session:
            problems = violations(session)
        holds = journal.all()
        return FleetResult(
            len(journal.ended), len({hold.slot for hold in holds}), clock.seconds, problems + double_leases(holds)
        )
