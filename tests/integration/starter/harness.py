"""Runs one task with one agent on a real local desktop, without a database."""

import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from backend.config import Settings
from backend.domain import registry
from backend.domain.episode import EndedBy
from backend.domain.evaluators.evaluate import collect, evaluate
from backend.domain.loop import Parts, Progress, Rules, run_episode
from backend.domain.ports import Desktop, DesktopSpec
from backend.domain.ports_agent import AgentContext
from backend.domain.registry import Kind
from backend.domain.run import RunConfig
from backend.domain.score import Evaluation, score_by_rule
from backend.domain.setup import run_steps
from backend.domain.task import LoadedBenchmark, Task
from backend.domain.trajectory import StepRecord
from backend.starter import TASKS
from tests.factories.starter_tasks import FakeContext
from worker.providers.local import LocalProvider


@cache
def starter() -> LoadedBenchmark:
    """The starter benchmark, read once."""
    registry.load()
    loaded: LoadedBenchmark = registry.lookup(Kind.BENCHMARK, "starter")().load(TASKS)
    return loaded


def context_of(desktop: Desktop, task: Task) -> FakeContext:
    """A SetupContext over the benchmark's own assets; of all else there is nothing."""
    return FakeContext(desktop, task, dict(starter().assets))


@dataclass
class Memory:
    """A recorder that keeps steps in a list."""

    steps: list[StepRecord] = field(default_factory=list)

    def step(self, record: StepRecord) -> None:
        self.steps.append(record)

    def flush(self) -> None:
        """Lists are durable enough for a test."""

    def cancelled(self) -> bool:
        return False


class Monotonic:
    """The real clock."""

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        # The loop waits on the screen; nothing here may wait a fixed time.
        raise AssertionError(f"the loop slept {seconds} s")


@dataclass
class Result:
    """What came of one episode."""

    evaluation: Evaluation
    ended_by: EndedBy
    note: str
    steps: int
    seconds: dict[str, float]
    records: list[StepRecord]

    def story(self) -> str:
        """The episode in words, for a failing test's message."""
        lines = [f"ended by {self.ended_by}: {self.note}"]
        lines += [f"  step {one.index}: {one.decision.words}" for one in self.records]
        lines += [f"  {metric.func} = {metric.value}: {metric.reasons}" for metric in self.evaluation.metrics]
        return "\n".join([*lines, self.evaluation.rule])


class Bench:
    """Desktops for episodes, one after the other."""

    def __init__(self, data: Path) -> None:
        self.provider = LocalProvider(Settings(data=data))

    def close(self) -> None:
        """Removes every desktop."""
        self.provider.close()

    def missing(self, task: Task) -> list[str]:
        """Programs that the task requires and a desktop here does not have."""
        offer = self.provider.availability()
        assert offer.ok, offer.reason
        return sorted(set(task.labels.requires) - set(offer.programs))

    def run(self, task: Task, agent: str, folder: Path, slot: int = 0) -> Result:
        """One whole episode on a fresh desktop."""
        opened = self.provider.open(slot, DesktopSpec())
        try:
            return self._episode(context_of(opened.desktop, task), agent, folder)
        finally:
            opened.close()

    def _episode(self, context: FakeContext, agent: str, folder: Path) -> Result:
        task, plugin = context.task, registry.lookup(Kind.AGENT, agent)
        clock, memory, progress = Monotonic(), Memory(), Progress()
        seconds = {"setup": clock.now()}
        run_steps(context, task.setup)
        seconds = {"setup": clock.now() - seconds["setup"], "episode": clock.now()}
        space = registry.lookup(Kind.OBSERVATION, plugin.observation)()
        rules = Rules.of(RunConfig(agent=agent), task)
        told = AgentContext(
            instruction=task.instruction,
            screen=context.desktop.screen,
            max_steps=rules.max_steps,
            seed=1,
            task=task if plugin.privileged else None,
        )
        parts = Parts(plugin(plugin.Params()), context.desktop, space, memory, clock)
        ended_by = run_episode(parts, told, rules, progress)
        seconds["episode"] = clock.now() - seconds["episode"]
        verdict = score_by_rule(task.evaluator, ended_by)
        if verdict is None:
            verdict = evaluate(task, collect(context, task), folder)
        return Result(verdict, ended_by, progress.note, progress.steps, {**seconds, **progress.spent}, memory.steps)
