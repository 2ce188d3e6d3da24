"""`make try-composed`: newly composed OmniBench tasks, each solved by its oracle on a real local desktop.

Composes `--number` tasks (`--seed` chooses which) of those subtasks of our pool that need the base packages only, over
all ten capabilities in turn, none of them among those that we ship, and runs the oracle on each. The exit code tells
whether each scored 1. With `--page` it writes docs/reports/composed-tasks.md.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from backend.domain.benchmarks import read_pool
from backend.domain.model.task import Task
from backend.domain.omnibench.build import build
from backend.domain.omnibench.complexity import CAPABILITIES
from backend.domain.omnibench.compose import GraphComposition, compose, for_capability
from backend.domain.omnibench.instructions import task_of
from backend.domain.omnibench.subtask import Subtask
from backend.domain.omnibench.task_file import read_task
from backend.starter import ROOT
from tests.integration.starter.harness import Bench, Result, in_form
from tools.bench.figures import machine

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reports" / "composed-tasks.md"
HEAD = """# Composed tasks solved by the oracle

Measured by `make try-composed ARGS="--number {number} --seed {seed} --page"`, which writes this page: tasks that are
composed anew of the pool's subtasks, in turn for each capability, none of them among the 200 that Deskarena brings. On
each the oracle plays its composed solution with mouse and keyboard on a real local desktop. `make test` does the same
with a sample of the 200, `make test-all` with all.

"""


class ComposedTrial(NamedTuple):
    """Result of one task."""

    task: Task
    capability: str
    score: float
    steps: int
    seconds: float
    story: str


def main() -> int:
    """Runs the oracle; 1 if any task did not score 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args()
    shipped = in_form("omnibench")
    pool = read_pool(ROOT / "omnibench", [])
    known = {read_task(task.raw, task.key.name, pool).graph.canonical() for task in shipped.tasks}
    needed = {command for task in shipped.tasks for command in task.labels.requires}
    light = {name: subtask for name, subtask in pool.items() if _runs(subtask, needed)}
    targets = [for_capability(letters) for letters in CAPABILITIES]
    fresh = (task for task in compose(light, targets, seed=options.seed) if task.graph.canonical() not in known)
    trials = []
    with tempfile.TemporaryDirectory(prefix="try-composed-", ignore_cleanup_errors=True) as name:
        bench = Bench(Path(name) / "data")
        try:
            for number, composition in enumerate(islice(fresh, options.number)):
                (folder := Path(name) / str(number)).mkdir()
                trial = _trial(bench, composition, str(number), light, folder)
                trials.append(trial)
                print(f"{trial.capability} {trial.score:g} {trial.seconds:.0f} s", flush=True)  # noqa: T201
        finally:
            bench.close()
    text = page(trials, options.seed)
    if options.page:
        PAGE.write_text(text)
    sys.stdout.write(text)
    return 0 if all(trial.score == 1.0 for trial in trials) else 1


def _runs(subtask: Subtask, programs: set[str]) -> bool:
    """Whether its programs are among those of the shipped tasks, which need the base packages only."""
    return set(subtask.requires) <= programs


def _trial(
    bench: Bench, composition: GraphComposition, name: str, pool: dict[str, Subtask], folder: Path
) -> ComposedTrial:
    task = build(task_of(composition, name, pool), pool, {})
    started = time.monotonic()
    result: Result = bench.run(task, "oracle", folder, loaded=in_form("omnibench"))
    seconds = time.monotonic() - started
    capability = composition.request.capability or ""
    return ComposedTrial(task, capability, result.evaluation.score or 0.0, result.steps, seconds, result.story())


def page(trials: Sequence[ComposedTrial], seed: int) -> str:
    """The figures in Markdown, with the story of each that failed."""
    rows = []
    for letters in CAPABILITIES:
        own = [trial for trial in trials if trial.capability == letters]
        if own:
            nodes = sorted(len(trial.task.evaluator.parts) for trial in own)
            seconds = sum(trial.seconds for trial in own) / len(own)
            solved = sum(trial.score == 1.0 for trial in own)
            size = f"{nodes[0]} to {nodes[-1]}" if nodes[0] < nodes[-1] else nodes[0]
            rows.append(f"| {letters} | {len(own)} | {solved} | {size} | {seconds:.0f} s |")
    failed = "".join(f"\n```\n{trial.capability}: {trial.story}\n```\n" for trial in trials if trial.score != 1.0)
    return (
        f"{HEAD.format(number=len(trials), seed=seed)}Machine: {machine()}. "
        f"Measured {datetime.now(UTC):%Y-%m-%d %H:%M} UTC.\n\n"
        "| capability | tasks | score 1 | nodes of a task | mean time of an episode |\n|---|---|---|---|---|\n"
        + "\n".join(rows)
        + "\n"
        + failed
    )


if __name__ == "__main__":
    sys.exit(main())
