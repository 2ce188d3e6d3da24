"""Makespans of WAA's tasks in virtual time: the real scheduler compared with other policies."""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.services.scheduling import maintenance
from backend.services.scheduling.claims import Claim
from tests.factories.records import World
from tools.simulator.clock import SimulationClock
from tools.simulator.durations import Length, played, typical_lengths, waa_tasks
from tools.simulator.installations import ProjectShare, import_waa, submit, virtual_time
from tools.simulator.journal import Journal
from tools.simulator.policies import first_come, longest_first, lower_bound, static_slices
from tools.simulator.timelines import VirtualTime
from tools.simulator.workers import AttemptOutcome, SimulatedWorker, SimulationContext

NODES, SLOTS = 5, 8
PLAYS = 3
"""Runs of the same agent, one after the other: the first knows nothing, the second knows the first, and so on."""
UPKEEP = 20.0
"""Seconds between updates of estimated durations, as in `worker/scheduling/maintenance_loop.py`."""


@dataclass(frozen=True)
class Play:
    """One run of all tasks; all but `bound` in units of the lower bound.

    Attributes:
        bound: seconds of the lower bound: the longest task, or the whole work on all slots.
        ours: the real scheduler.
        slices: each slot has its slice beforehand (WAA).
        queue: one queue in the file's order (OSWorld).
        typical: longest task first by typical durations, as if history were exact.
        foresight: the longest task first, as if all lengths were known.
    """

    bound: float
    ours: float
    slices: float
    queue: float
    typical: float
    foresight: float


def plays(server: str, seed: int, noise: float, number: int = PLAYS) -> list[Play]:
    """Several runs of one agent on an installation of their own, one after the other."""
    typical = typical_lengths(seed)
    lengths = [played(typical, seed * 1000 + at, noise) for at in range(number)]
    clock = SimulationClock()
    with virtual_time(server, clock) as world:
        import_waa(world)
        timeline, journal = VirtualTime(clock), Journal()
        now: dict[str, Length] = {}
        # Without reaper and with automatic slots, heartbeats and polls would only cost time.
        setting = SimulationContext(world, timeline, journal, lambda claim: _fate(claim, now), beat=1e6, poll=60.0)
        workers = [SimulatedWorker(setting, f"n{at}", SLOTS) for at in range(NODES)]
        for worker in workers:
            worker.start()
        _keep_up(timeline, world)
        ends = []
        for at, shares in enumerate(lengths):
            now |= {f"{task.domain}/{task.name}": length for task, length in zip(waa_tasks(), shares, strict=True)}
            began, target = clock.seconds, len(journal.ended) + len(shares)
            submit(world, ProjectShare("waa"), seed=at)
            for worker in workers:
                worker.wake()
            timeline.run(lambda target=target: len(journal.ended) >= target)  # type: ignore[misc]
            ends.append(clock.seconds - began)
    return [_play(share, end, typical) for share, end in zip(lengths, ends, strict=True)]


def _keep_up(timeline: VirtualTime, world: World) -> None:
    """Periodic work of a worker."""

    def look() -> None:
        maintenance.keep_schedule(world.factory)
        timeline.later(UPKEEP, look)

    timeline.later(UPKEEP, look)


def _fate(claim: Claim, lengths: dict[str, Length]) -> AttemptOutcome:
    return AttemptOutcome(lengths[str(claim.task.key)], steps=0)


def _play(lengths: Sequence[Length], end: float, typical: Sequence[Length]) -> Play:
    seconds, slots = [length.total for length in lengths], NODES * SLOTS
    bound = lower_bound(seconds, slots)
    by_typical = longest_first(seconds, slots, [length.total for length in typical])
    others = [policy(seconds, slots) for policy in (static_slices, first_come)]
    spans = [end, *others, by_typical, longest_first(seconds, slots)]
    return Play(bound, *(span / bound for span in spans))
