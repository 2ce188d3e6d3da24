"""`make bench-loop`: measures the path of an episode with real desktops, and writes docs/reports/performance.md.

With `--quick` it takes fewer samples and writes nothing.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import select

from backend.db.models import Attempt, Lease, Run, Step
from backend.domain.model.run import Budget
from backend.domain.model.task import EvaluatorSpec, LoadedBenchmark, MetricCall, SetupStep, Task, TaskKey
from backend.domain.registry import PluginKind, lookup
from tests.integration.worker.in_process import attempts, episodes, finished, leases
from tests.integration.worker.stack import STARTER, WorkerStack
from tests.waiting import until
from tools.bench.figures import PAGE, Figure, page, percentile
from tools.bench.viewer import ApiServers, watch

LONG = 1200.0
RESTLESS = "while :; do seq $RANDOM | tail -n 40; sleep 0.05; done"


def main() -> int:
    """Runs everything; the exit code tells whether all targets were met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as folder:
        stack = WorkerStack(Path(folder), durable=True)
        try:
            figures = measure(stack, quick=quick)
        finally:
            stack.close()
    written = page(figures, load)
    sys.stdout.write(written)
    if not quick:
        PAGE.write_text(written)
    return 0 if all(figure.met is not False for figure in figures) else 1


def measure(stack: WorkerStack, *, quick: bool) -> list[Figure]:
    """All figures, in the page's order."""
    stack.import_starter()
    stack.world.benchmark(quiet_and_restless(), name="bench")
    stack.start_worker()
    say("lease to first observation")
    cold = [first_observation(stack) for _ in range(3 if quick else 15)]
    say("steps, one slot")
    alone = step_overheads(stack, [submit_steps(stack, quick=quick)])
    say("steps, two slots at once")
    both = step_overheads(stack, [submit_steps(stack, quick=quick) for _ in range(2)])
    say("live view")
    arrived, replaced = live_view(stack, 5.0 if quick else 20.0)
    say("all starter tasks")
    used, warm = starter_run(stack, quick=quick)
    return [
        figure("lease to first observation, before set-up, no desktop prepared", "p50 <= 1.5 s", "s", cold, (0.5, 1.5)),
        figure("the same inside a run, under a kept lease", "p50 <= 1.5 s", "s", warm, (0.5, 1.5)),
        figure("what our code adds to a step, one slot at work", "p50 <= 60 ms", "ms", alone, (0.5, 60)),
        figure("what our code adds to a step, both slots at work", "", "ms", both, None),
        figure("live view at 5 fps: age of a frame when it arrives", "", "ms", arrived, None),
        figure("live view at 5 fps: age when the next one replaces it", "p95 <= 500 ms", "ms", replaced, (0.95, 500)),
        Figure("time under lease, all starter tasks on two slots", ">= 85 %", "%", (used * 100,), used >= 0.85),
    ]


def figure(label: str, aim: str, unit: str, values: Sequence[float], limit: tuple[float, float] | None) -> Figure:
    """A figure whose aim is that a percentile does not exceed a limit."""
    met = None if limit is None else percentile(values, limit[0]) <= limit[1]
    return Figure(label, aim, unit, tuple(values), met)


def say(message: str) -> None:
    """Prints the current measurement."""
    sys.stderr.write(f"measuring: {message}\n")


def quiet_and_restless() -> LoadedBenchmark:
    """Two tasks for measuring: an empty desktop, and a terminal that never stands still."""

    def task(name: str, *setup: SetupStep) -> Task:
        spec = EvaluatorSpec(calls=(MetricCall(func="infeasible"),))
        key = TaskKey(domain="bench", name=name)
        return Task(key=key, dialect="starter", instruction="Look.", setup=setup, evaluator=spec)

    command = ["xterm", "-geometry", "160x50", "-e", "bash", "-c", RESTLESS]
    launch = SetupStep(type="launch", parameters={"command": command})
    return LoadedBenchmark(kind="bench", tasks=(task("quiet"), task("restless", launch)))


def submit(stack: WorkerStack, agent: str, benchmark: str, tasks: tuple[str, ...] = (), **more: Any) -> Run:
    """A run at the default size of the screen."""
    return stack.world.submit(agent, benchmark, tasks=tasks, **more)


def first_observation(stack: WorkerStack) -> float:
    """Seconds from a fresh lease to the first picture, with nothing prepared."""
    run = submit(stack, "always_fail", "bench", ("bench/quiet",))
    (episode,) = finished(stack.world, run.id, LONG)
    (attempt,) = attempts(stack.world, episode.id)
    until(lambda: all(lease.released_at for lease in leases(stack.world)), LONG)
    with stack.world.work() as session:
        lease = session.get_one(Lease, attempt.lease_id)
    assert attempt.first_observation_at is not None
    return (attempt.first_observation_at - lease.acquired_at).total_seconds()


def submit_steps(stack: WorkerStack, *, quick: bool) -> Run:
    """An episode of clicks and keys on an application."""
    return submit(stack, "random", "starter", ("editor/add_milk",), budget=Budget(max_steps=15 if quick else 60))


def step_overheads(stack: WorkerStack, runs: Sequence[Run]) -> list[float]:
    """Milliseconds per step that are neither the agent's, nor the action's, nor the page's."""
    overheads = []
    for run in runs:
        for episode in finished(stack.world, run.id, LONG):
            for attempt in attempts(stack.world, episode.id):
                overheads += [overhead(step) for step in steps_of(stack, attempt)]
    return overheads


def steps_of(stack: WorkerStack, attempt: Attempt) -> list[Step]:
    """Steps with the time of storing the previous one: all but the first and the final observation."""
    with stack.world.work() as session:
        query = select(Step).where(Step.attempt_id == attempt.id, Step.index > 0).order_by(Step.index)
        return [step for step in session.scalars(query) if not any(result.get("final") for result in step.results)]


def overhead(step: Step) -> float:
    """In milliseconds."""
    timing = step.timing
    return float(timing["total"] - timing["agent"] - timing["action"] - timing["settle"]) * 1000


def live_view(stack: WorkerStack, seconds: float) -> tuple[list[float], list[float]]:
    """The live view of a constantly changing screen, over the product's own websocket."""
    api = ApiServers(stack.environment)
    try:
        run = submit(stack, "random", "bench", ("bench/restless",), budget=Budget(max_steps=1000))
        (episode,) = episodes(stack.world, run.id)

        def running() -> Attempt | None:
            tries = attempts(stack.world, episode.id)
            return tries[-1] if tries and tries[-1].current_step >= 1 else None

        attempt = until(running, LONG, what="the episode is under way")
        assert attempt is not None
        try:
            return watch(api.port, attempt.id, seconds)
        finally:
            from backend.services.runs.runs import cancel_run

            stack.world.do(cancel_run, run.id)
            finished(stack.world, run.id, LONG)
    finally:
        api.stop()


def starter_run(stack: WorkerStack, *, quick: bool) -> tuple[float, list[float]]:
    """Share of the time that the two slots were under lease; and seconds to the first picture of each attempt."""
    until(lambda: all(lease.released_at for lease in leases(stack.world)), LONG)
    before = {lease.id for lease in leases(stack.world)}
    assert lookup(PluginKind.BENCHMARK, "starter")().load(STARTER).tasks
    run = submit(stack, "oracle", "starter", ("terminal/*",) if quick else ())
    own_episodes = finished(stack.world, run.id, LONG)
    until(lambda: all(lease.released_at for lease in leases(stack.world)), LONG)
    own_leases = [lease for lease in leases(stack.world) if lease.id not in before]
    ends = [lease.released_at for lease in own_leases if lease.released_at is not None]
    span = (max(ends) - min(lease.acquired_at for lease in own_leases)).total_seconds()
    under_lease = sum((end - lease.acquired_at).total_seconds() for lease, end in zip(own_leases, ends, strict=True))
    own_attempts = [attempt for episode in own_episodes for attempt in attempts(stack.world, episode.id)]
    warm = [
        (attempt.first_observation_at - attempt.started_at).total_seconds()
        for attempt in own_attempts
        if attempt.first_observation_at is not None and attempt.desktop.get("prepared")
    ]
    return under_lease / (2 * span), warm


if __name__ == "__main__":
    sys.exit(main())
