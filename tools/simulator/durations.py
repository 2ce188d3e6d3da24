"""Durations of WindowsAgentArena's 154 tasks in a slot: recorded and assumed parts.

Recorded: the tasks in the order of its `test_all.json` with the seconds that their set-up and post-configuration sleep
(waa_tasks.csv); a person's mean steps by domain (its paper, Table 6); its step budget of 15 (`run.py`); 16.1 minutes
for a run of all on about 50 machines (Table 9, Navi with GPT-4o), which makes 314 s for the mean task.

Assumed, because unpublished: a task's steps vary around its domain's mean by a factor whose logarithm has the standard
deviation TASK_SPREAD; that its seconds differ from play to play by a factor of mean 1 and standard deviation `noise`;
that reset, set-up and evaluation take OVERHEAD beside the sleeps.
"""

import csv
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("waa_tasks.csv")
STEP_BUDGET = 15
MEAN_SECONDS = 16.1 * 60 * 50 / 154
TASK_SPREAD = 0.5
NOISE = 0.2
OVERHEAD = 15.0
HUMAN_STEPS = {
    "libreoffice_calc": 15.3,
    "libreoffice_writer": 8.3,
    "settings": 6.3,
    "file_explorer": 6.3,
    "notepad": 11.7,
    "clock": 11.7,
    "microsoft_paint": 11.7,
    "windows_calc": 11.7,
    "vlc": 6.6,
    "vs_code": 4.5,
    "chrome": 5.5,
    "msedge": 5.5,
}


@dataclass(frozen=True)
class RecordedTask:
    """A task of WAA from its file; seconds are its sleeps before and after the agent."""

    domain: str
    name: str
    setup_seconds: float
    evaluation_seconds: float


@dataclass(frozen=True)
class Length:
    """Seconds of an attempt by phase."""

    prepare: float
    play: float
    evaluate: float

    @property
    def total(self) -> float:
        """Seconds in its slot."""
        return self.prepare + self.play + self.evaluate


@cache
def waa_tasks() -> tuple[RecordedTask, ...]:
    """All tasks in the order of WAA's file."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return tuple(
            RecordedTask(row["domain"], row["name"], float(row["setup_sleep_s"]), float(row["postconfig_sleep_s"]))
            for row in csv.DictReader(file)
        )


def typical_lengths(seed: int) -> list[Length]:
    """The typical length of each task, scaled so that the mean task takes MEAN_SECONDS."""
    generator = random.Random(seed)  # noqa: S311 - a sample
    tasks = waa_tasks()
    steps = [_steps(task, generator) for task in tasks]
    fixed = sum(OVERHEAD + task.setup_seconds + task.evaluation_seconds for task in tasks)
    step = (MEAN_SECONDS * len(tasks) - fixed) / sum(steps)
    return [
        Length(OVERHEAD / 2 + task.setup_seconds, number * step, OVERHEAD / 2 + task.evaluation_seconds)
        for task, number in zip(tasks, steps, strict=True)
    ]


def _steps(task: RecordedTask, generator: random.Random) -> float:
    drawn = HUMAN_STEPS[task.domain] * generator.lognormvariate(0.0, TASK_SPREAD)
    return min(float(STEP_BUDGET), max(1.0, drawn))


def played(typical: Sequence[Length], seed: int, noise: float = NOISE) -> list[Length]:
    """One play of each task: its agent's time differs from the typical one by a factor."""
    generator = random.Random(seed)  # noqa: S311 - a sample
    spread = math.sqrt(math.log(1.0 + noise * noise))
    return [
        Length(length.prepare, length.play * generator.lognormvariate(-spread * spread / 2, spread), length.evaluate)
        for length in typical
    ]
