"""Fair shares in virtual time: projects with weights whose episodes differ in length."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from uuid import UUID

from backend.services.scheduling.claims import Claim
from tools.simulator.clock import SimulationClock
from tools.simulator.durations import Length
from tools.simulator.installations import ProjectShare, import_tasks, submit_all, virtual_time
from tools.simulator.journal import Journal, share_error, slot_seconds
from tools.simulator.timelines import VirtualTime
from tools.simulator.workers import AttemptOutcome, SimulatedWorker, SimulationContext

WEIGHTS = {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}
TASKS, STEPS = 100, 10.0
"""Number of tasks, and seconds of an episode besides the agent's time."""


@dataclass(frozen=True)
class Mix:
    """Projects that always have episodes waiting.

    Attributes:
        slots: that they share.
        hours: of virtual time. No share is more exact than an episode is of all slots' hours.
        seconds: mean length of each project's episodes.
    """

    slots: int
    hours: float
    seconds: Mapping[str, float]

    @property
    def due_to_the_least(self) -> float:
        """Slots that are due to the project with the smallest weight."""
        return min(WEIGHTS.values()) * self.slots / sum(WEIGHTS.values())

    def repeats(self, project: str) -> int:
        """Of the tasks, so that half as many again wait as the project's share plays in these hours."""
        slots = WEIGHTS[project] * self.slots / sum(WEIGHTS.values())
        return ceil(1.5 * slots * self.hours * 3600 / (self.seconds[project] + STEPS) / TASKS)


MINUTES = {"a": 60.0, "b": 240.0, "c": 120.0, "d": 480.0}
EVEN, UNEVEN = Mix(20, 1, MINUTES), Mix(7, 4, MINUTES)
"""Slots that the weights divide evenly, and slots of which they leave every project a fraction."""
LONG = Mix(10, 4, {**MINUTES, "d": 3600.0})
"""Episodes that last much longer than the time after which a run that waits counts as more urgent."""


def error(server: str, seed: int, mix: Mix) -> float:
    generator, clock = random.Random(seed), SimulationClock()  # noqa: S311 - a sample
    with virtual_time(server, clock) as world:
        import_tasks(world, TASKS)
        timeline, journal = VirtualTime(clock), Journal()
        projects: dict[UUID, str] = {}

        def fate(claim: Claim) -> AttemptOutcome:
            play = mix.seconds[projects[claim.run_id]] * generator.lognormvariate(-0.125, 0.5)
            return AttemptOutcome(Length(STEPS / 2, play, STEPS / 2), steps=0)

        # Without reaper and with automatic slots, heartbeats and polls would only cost time.
        setting = SimulationContext(world, timeline, journal, fate, beat=1e6, poll=60.0)
        worker = SimulatedWorker(setting, "n0", mix.slots)
        lasts = mix.hours * 3600.0
        shares = [ProjectShare(name, weight, [{"repeats": mix.repeats(name)}]) for name, weight in WEIGHTS.items()]
        projects |= submit_all(world, shares)
        worker.start()
        timeline.run(lambda: False, most=lasts)
        seconds = slot_seconds(journal.all(), 0.0, lasts)
        return share_error({projects[run]: number for run, number in seconds.items()}, WEIGHTS)
