"""Fair shares in virtual time: projects with weights whose episodes differ in length."""

import random
from uuid import UUID

from backend.services.claims import Claim
from tests.simulator.clock import Clock
from tests.simulator.durations import Length
from tests.simulator.installations import Share, import_tasks, submit_all, virtual_time
from tests.simulator.journal import Journal, share_error, slot_seconds
from tests.simulator.timelines import VirtualTime
from tests.simulator.workers import Fate, Setting, SimulatedWorker

WEIGHTS = {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}
SECONDS = {"a": 60.0, "b": 240.0, "c": 120.0, "d": 480.0}
"""Mean length of each project's episodes."""
EVEN, UNEVEN = 20, 7
"""Slots that the weights divide evenly, and slots of which they leave every project a fraction."""
HOURS = {EVEN: 1, UNEVEN: 4}
"""A single episode of the longest can be 6 % of an hour of seven slots, and no share is more exact than an episode."""
TASKS = 100


def error(server: str, seed: int, slots: int) -> float:
    """The fair-share error of so many slots over HOURS in which every project always has episodes waiting."""
    generator, clock = random.Random(seed), Clock()  # noqa: S311 - a sample
    with virtual_time(server, clock) as world:
        import_tasks(world, TASKS)
        timeline, journal = VirtualTime(clock), Journal()
        projects: dict[UUID, str] = {}

        def fate(claim: Claim) -> Fate:
            play = SECONDS[projects[claim.run_id]] * generator.lognormvariate(-0.125, 0.5)
            return Fate(Length(5.0, play, 5.0), steps=0)

        # Nobody reaps, and a slot goes on by itself: heartbeats and polls would only cost time.
        setting = Setting(world, timeline, journal, fate, beat=1e6, poll=60.0)
        worker = SimulatedWorker(setting, "n0", slots)
        repeats, lasts = {"a": 8, "b": 3, "c": 4, "d": 1}, HOURS[slots] * 3600.0
        projects |= submit_all(world, [Share(name, WEIGHTS[name], [{"repeats": repeats[name]}]) for name in WEIGHTS])
        worker.start()
        timeline.run(lambda: False, most=lasts)
        found = slot_seconds(journal.all(), 0.0, lasts)
        return share_error({projects[run]: number for run, number in found.items()}, WEIGHTS)
