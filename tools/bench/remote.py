"""`make bench-remote`: what a remote agent's step costs beyond a local one's; writes its page below docs/reports/.

The same kind of step is taken by `random`, which runs in the worker, and by a program on this machine that answers over
REST as soon as it has the picture. With `--quick` it takes fewer samples and writes nothing.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from uuid import UUID

from backend.domain.model.run import Budget
from deskarena.client import Client
from deskarena.episode import Episode
from tests.integration.worker.in_process import attempts, episodes, finished
from tests.integration.worker.stack import WorkerStack
from tools.bench.figures import Figure, page, percentile
from tools.bench.loop import LONG, figure, quiet_and_restless, say, steps_of, submit
from tools.bench.viewer import ApiServers

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reports" / "performance-remote.md"
HEAD = """# Performance of remote agents

Measured by `make bench-remote`, which runs real episodes on the local provider, writes this page and prints its table;
nothing here is estimated. Service, worker and the remote program share one machine and speak over loopback; desktops
are 1920x1080, observations are the screenshot as JPEG. A step is all of it but what the action took and what the page
took to stand still. The remote program gets the observation and its picture and answers at once.

"""
LIMIT_MS = 15.0


def main() -> int:
    """Runs everything; the exit code tells whether the target was met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as folder:
        stack = WorkerStack(Path(folder), durable=True)
        try:
            figures = measure(stack, 15 if quick else 100)
        finally:
            stack.close()
    written = page(figures, load, HEAD)
    sys.stdout.write(written)
    if not quick:
        PAGE.write_text(written)
    return 0 if all(figure.met is not False for figure in figures) else 1


def measure(stack: WorkerStack, steps: int) -> list[Figure]:
    """All figures, in the page's order."""
    stack.world.benchmark(quiet_and_restless(), name="bench")
    stack.start_worker()
    api = ApiServers(stack.environment)
    try:
        say("steps of a local agent")
        local = local_steps(stack, steps)
        say("steps of a remote agent")
        remote, waits = remote_steps(stack, api, steps)
    finally:
        api.stop()
    middle = percentile(local, 0.5)
    more = [value - middle for value in remote]
    return [
        figure("step of a local agent", "", "ms", local, None),
        figure("step of a remote agent", "", "ms", remote, None),
        figure("a remote step beyond the median local one", f"p50 <= {LIMIT_MS:.0f} ms", "ms", more, (0.5, LIMIT_MS)),
        figure("as the program sees it: answer given to next picture there", "", "ms", waits, None),
    ]


def local_steps(stack: WorkerStack, steps: int) -> list[float]:
    """Milliseconds of each step of `random`, but for action and settling."""
    run = submit(stack, "random", "bench", ("bench/quiet",), budget=Budget(max_steps=steps))
    return costs(stack, run.id)


def remote_steps(stack: WorkerStack, api: ApiServers, steps: int) -> tuple[list[float], list[float]]:
    """Milliseconds of each step of a program that presses a key, and those that it waited itself."""
    run = submit(stack, "remote", "bench", ("bench/quiet",), budget=Budget(max_steps=steps))
    (row,) = episodes(stack.world, run.id)
    client = Client(f"http://127.0.0.1:{api.port}", "")
    episode = Episode(client, str(row.id), "bench/quiet", patience=LONG)
    episode.begin()
    waits = []
    while True:
        before = time.monotonic()
        if episode.act({"actions": [{"type": "PRESS", "keys": ["shift"]}]}) is None:
            break
        waits.append((time.monotonic() - before) * 1000)
    episode.close()
    client.close()
    return costs(stack, run.id), waits


def costs(stack: WorkerStack, run_id: UUID) -> list[float]:
    """Milliseconds per step that are neither the action's nor the page's."""
    overheads: list[float] = []
    for episode in finished(stack.world, run_id, LONG):
        for attempt in attempts(stack.world, episode.id):
            overheads += [
                float(step.timing["total"] - step.timing["action"] - step.timing["settle"]) * 1000
                for step in steps_of(stack, attempt)
            ]
    return overheads


if __name__ == "__main__":
    sys.exit(main())
