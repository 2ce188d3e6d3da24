"""Runs one task with one agent on a real local desktop, without a database."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

from backend.config import Settings
from backend.domain import registry
from backend.domain.evaluators.evaluate import CallEvidence, collect, evaluate, evaluate_part
from backend.domain.loop.agent_loop import LoopDependencies, LoopProgress, Rules, run_episode
from backend.domain.machines.applications import missing
from backend.domain.machines.egress_rules import way_out_of
from backend.domain.machines.image_offers import ImageOffer, image_for
from backend.domain.machines.slots import SlotRef
from backend.domain.model.episode import EndedBy
from backend.domain.model.run import RunConfig
from backend.domain.model.score import Evaluation, MetricValue, score_by_rule
from backend.domain.model.task import LoadedBenchmark, Part, Task
from backend.domain.model.trajectory import Observation, StepRecord
from backend.domain.ports.agent import AgentContext
from backend.domain.ports.desktop import Desktop, DesktopSpec
from backend.domain.registry import PluginKind
from backend.domain.setup import run_steps
from backend.starter import TASKS, starters
from tests.factories.starter_tasks import FakeContext
from worker.attempt.checkpoint_watcher import CheckpointWatcher
from worker.providers.local import LocalProvider

Judge = Callable[[Task, Sequence[StepRecord], Observation], bytes]
"""A judge's verdict on an attempt, given its steps and the end state."""


@cache
def starter() -> LoadedBenchmark:
    """The starter benchmark, read once."""
    registry.load()
    loaded: LoadedBenchmark = registry.lookup(PluginKind.BENCHMARK, "starter")().load(TASKS)
    return loaded


@cache
def in_form(kind: str) -> LoadedBenchmark:
    """Our own tasks in the form of that published suite, read once."""
    registry.load()
    (found,) = [one for one in starters() if one.kind == kind]
    loaded: LoadedBenchmark = registry.lookup(PluginKind.BENCHMARK, kind)().load(found.folder)
    return loaded


def context_of(desktop: Desktop, task: Task, loaded: LoadedBenchmark) -> FakeContext:
    """A SetupContext over the benchmark's own assets; of all else there is nothing."""
    return FakeContext(desktop, task, dict(loaded.assets))


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


class HarnessClock:
    """The real clock."""

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        # The loop waits on the screen; nothing here may wait a fixed time.
        raise AssertionError(f"the loop slept {seconds} s")


@dataclass
class Result:
    """Result of one episode."""

    evaluation: Evaluation
    ended_by: EndedBy
    note: str
    steps: int
    seconds: dict[str, float]
    records: list[StepRecord]

    def story(self) -> str:
        """The episode as text, for a failing test's message."""
        lines = [f"ended by {self.ended_by}: {self.note}"]
        lines += [f"  step {one.index}: {one.decision.explanation}" for one in self.records]
        lines += [f"  {metric.func} = {metric.value}: {metric.reasons}" for metric in self.evaluation.metrics]
        return "\n".join([*lines, self.evaluation.rule])


class Bench:
    """Desktops for episodes, one after the other."""

    def __init__(self, data: Path) -> None:
        self.provider = LocalProvider(Settings(data_dir=data))

    def close(self) -> None:
        """Removes every desktop."""
        self.provider.close()

    def missing(self, task: Task) -> list[str]:
        """Programs that the task requires and a desktop here does not have."""
        offer = self._offer(task)
        if offer.reason:
            return [offer.reason]
        return missing(task.labels.requires, offer.programs)

    def _offer(self, task: Task) -> ImageOffer:
        """The image that the task gets."""
        able = self.provider.availability()
        assert able.ok, able.reason
        chosen = image_for(able.images, None, task.labels.os)
        return next(image for image in able.images if image.name == chosen)

    def run(  # noqa: PLR0913 - what an episode is made of
        self,
        task: Task,
        agent: str,
        folder: Path,
        *,
        loaded: LoadedBenchmark | None = None,
        judge: Judge | None = None,
        slot: int = 0,
    ) -> Result:
        """One whole episode on a fresh desktop.

        Args:
            task: of `loaded`, or changed.
            agent: its name.
            folder: where the evaluation may write.
            loaded: whose assets the task has; None = the starter benchmark's.
            judge: for tasks that a model judges.
            slot: of the provider.
        """
        loaded = loaded or starter()
        opened = self.provider.open(SlotRef(slot), DesktopSpec(image=self._offer(task).name))
        try:
            names = {name: name for name in loaded.assets}
            opened.let_out(way_out_of(task, names, egress="none", hosts=(), proxy=""), loaded.assets.__getitem__)
            return self._episode(context_of(opened.desktop, task, loaded), agent, folder, judge)
        finally:
            opened.close()

    def _episode(self, context: FakeContext, agent: str, folder: Path, judge: Judge | None) -> Result:
        task, plugin = context.task, registry.lookup(PluginKind.AGENT, agent)
        clock, memory, progress = HarnessClock(), Memory(), LoopProgress()
        seconds = {"setup": clock.now()}
        run_steps(context, task.setup)
        seconds = {"setup": clock.now() - seconds["setup"], "episode": clock.now()}
        space = registry.lookup(PluginKind.OBSERVATION, plugin.observation)()
        rules = Rules.for_task(RunConfig(agent=agent), task)
        told = AgentContext(
            instruction=task.instruction,
            screen=context.desktop.screen,
            max_steps=rules.max_steps,
            seed=1,
            task=task if plugin.privileged else None,
        )
        watch = CheckpointWatcher(context, partial(_seen, folder)) if task.evaluator.stepwise else None  # type: ignore[arg-type]
        parts = LoopDependencies(plugin(plugin.Params()), context.desktop, space, memory, clock, watch=watch)
        ended_by = run_episode(parts, told, rules, progress)
        seconds["episode"] = clock.now() - seconds["episode"]
        verdict = score_by_rule(task.evaluator, ended_by)
        if verdict is None:
            if judge is not None:
                context.judged = judge(task, memory.steps, space.observe(context.desktop, len(memory.steps)))
            evidence = collect(context, task, watch.evidence if watch is not None else None)
            verdict = evaluate(task, evidence, folder, ended_by=ended_by)
        return Result(verdict, ended_by, progress.note, progress.steps, {**seconds, **progress.spent}, memory.steps)


def _seen(folder: Path, task: Task, part: Part, evidence: Sequence[CallEvidence]) -> MetricValue:
    """Evaluates a part in this process, each in its own folder."""
    place = folder / f"look-{len(list(folder.iterdir()))}"
    place.mkdir()
    return evaluate_part(task, part, evidence, place)
