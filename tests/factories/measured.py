"""Installations with measures: graphs of subtasks with their labels, checkpoints by level, and agents' runs of them."""

import random
from collections.abc import Mapping, Sequence
from uuid import UUID

from backend.domain.model.episode import EndedBy
from backend.domain.model.omnibench_labels import CAPABILITIES, COMPLEXITIES
from backend.domain.model.score import Evaluation, MetricEvidence, PartResult
from backend.domain.model.task import (
    Difficulty,
    EvaluatorSpec,
    Labels,
    LoadedBenchmark,
    MetricCall,
    Part,
    PartKind,
    Task,
    TaskKey,
)
from backend.services.attempts import attempts
from backend.services.scheduling import claims
from backend.services.scheduling.claims import Claim
from tests.factories.checkpoints import file_says, part
from tests.factories.records import World
from tests.factories.scene import OneTransaction, rename_agent
from tests.factories.tasks import make_benchmark

APPS = ("Excel", "Word", "File Explorer")


def graph_task(name: str, place: int, nodes: int = 5) -> Task:
    """A chain of subtasks, labelled as OmniBench labels its compositions."""
    parts = tuple(
        part(f"n{at}", *([f"n{at - 1}"] if at else []), app=APPS[at % 3], text=f"Subtask {at} of {name}")
        for at in range(nodes)
    )
    levels = list(Difficulty)
    extra = {
        "capabilities": [letters for at, letters in enumerate(CAPABILITIES) if (place + at) % 3 == 0],
        "complexity": {dimension: str(levels[(place + at) % 3]) for at, dimension in enumerate(COMPLEXITIES)},
    }
    return Task(
        key=TaskKey(domain=("office", "media")[place % 2], name=name),
        dialect="starter",
        instruction=f"Do all subtasks of {name}, one after another.",
        evaluator=EvaluatorSpec(calls=(), parts=parts, protocol="omnibench"),
        labels=Labels(extra=extra),
        max_steps=20,
    )


def checkpoint_task(name: str, level: str, checkpoints: int) -> Task:
    """A task with checkpoints; without any of level L4, which cannot be done."""
    parts = tuple(
        part(f"c{at}", each_step=False, kind=PartKind.CHECKPOINT, text=f"State {at} of {name}")
        for at in range(checkpoints)
    )
    calls = (MetricCall(func="infeasible"),) if level == "L4" else (file_says("/end", "done"),)
    return Task(
        key=TaskKey(domain="persona", name=name),
        dialect="starter",
        instruction=f"Reach every state of {name}.",
        evaluator=EvaluatorSpec(calls=calls, parts=parts, protocol="windowsworld"),
        labels=Labels(level=level, feasible=level != "L4"),
    )


def benchmark_of(*tasks: Task) -> LoadedBenchmark:
    """A benchmark of these."""
    return make_benchmark(*tasks)


def result(part: Part, step: int | None, judge: str = "exact_match") -> tuple[PartResult, MetricEvidence]:
    """Result of a part: reached after that step, or not."""
    value = 0.0 if step is None else 1.0
    reasons = ("the file says so",) if step is not None else ("the file does not exist",)
    part_result = PartResult(
        name=part.name,
        kind=part.kind,
        value=value,
        text=part.text,
        app=part.app,
        weight=part.weight,
        step=step,
        reasons=reasons,
    )
    return part_result, MetricEvidence(func=judge, value=value, reasons=reasons, part=part.name)


def verdict(task: Task, steps: Sequence[int | None], score: float, measures: Mapping[str, float]) -> Evaluation:
    """An evaluation with one entry per part: the step after which it was reached, or None."""
    both = [result(part, step) for part, step in zip(task.evaluator.parts, steps, strict=True)]
    return Evaluation(
        score=score,
        measures={**measures, "score": score},
        metrics=tuple(kept for _, kept in both),
        parts=tuple(part_result for part_result, _ in both),
    )


def finish(
    world: World, claim: Claim, evaluation: Evaluation, *, steps: int = 3, ended_by: EndedBy = EndedBy.DONE
) -> None:
    """Through the whole life of an attempt to this verdict."""
    world.run_to_evaluation(claim, steps, ended_by)
    world.do(attempts.finish_scored, claim.fence, evaluation, [], {"evaluation": 0.2})
    world.do(claims.release_lease, claim.lease_id, "done")


def play_graphs(world: World, skill: float, seed: int, name: str, benchmark: str = "graphs") -> UUID:
    """A run of an agent of that name that reaches each next subtask with that chance; LC is undefined at times."""
    worker, run = world.worker(slots=1), world.submit("random", benchmark, seed=seed)
    draw = random.Random(seed)
    while (claim := world.claim(worker)) is not None:
        parts, at = claim.task.evaluator.parts, 0
        reached: list[int | None] = []
        while len(reached) < len(parts) and draw.random() < skill:
            at += draw.randint(1, 3)
            reached.append(at)
        weights = range(1, len(parts) + 1)
        measures = {"CR": sum(list(weights)[: len(reached)]) / sum(weights)}
        if draw.random() < 0.8:
            measures["LC"] = draw.randint(0, 4) / 4
        left: list[int | None] = [None] * (len(parts) - len(reached))
        score = float(len(reached) == len(parts))
        finish(world, claim, verdict(claim.task, [*reached, *left], score, measures), steps=at + 2)
    rename_agent(world, run, name)
    return run.id


def graphs(world: World, tasks: int = 12) -> list[UUID]:
    """Benchmark `graphs` with the runs of two agents, the better one first; in one transaction."""
    with world.work() as session:
        transaction = OneTransaction(world.factory, world.store, session)
        transaction.benchmark(benchmark_of(*(graph_task(f"g{at}", at) for at in range(tasks))), name="graphs")
        runs = [play_graphs(transaction, 0.85, 3, "cartographer"), play_graphs(transaction, 0.6, 8, "rambler")]
    world.roll_up()
    return runs
