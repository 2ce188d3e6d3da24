"""`make bench-schedule`: measures the scheduler with more than 50,000 queued episodes on 1,000 simulated slots.

A real PostgreSQL that waits for the disk as it does in use, real services, no desktops (docs/internals/simulator.md).
Writes docs/reports/performance-schedule.md; ends with 1 if an aim is missed. With `--quick` there is less of
everything, and nothing is written.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean

from sqlalchemy import text

from backend.cli.embedded.postgres import start_postgres
from backend.services import events
from tests import databases
from tests.factories.records import World, world
from tools.bench.figures import Figure, page, percentile
from tools.bench.schedule_page import HEAD, HOLD, makespans
from tools.simulator import load, sharing
from tools.simulator.durations import NOISE, STEP_BUDGET
from tools.simulator.installations import import_tasks, submit_all, vacuumed
from tools.simulator.makespans import PLAYS, plays
from tools.simulator.worker_fleet import NODES, REPEATS, SLOTS, crowd

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reports" / "performance-schedule.md"
SEEDS = {0.0: 5, 0.1: 2, NOISE: 5}
"""Seeds of the makespans, by how much a task's length differs from run to run; 0: it takes as long each time."""
TASKS, CORES, LASTS = 2_100, 2, 120.0
RATE, P50, P95, SHARE, MAKESPAN = 200.0, 50.0, 250.0, 5.0, 1.05


def main() -> int:
    """Measures, writes the page; the exit code tells whether all targets were met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    began = os.getloadavg()[0]
    events.configure("")
    with server(durable=True) as url:
        figures = loaded(url, 1 if quick else 2)
    seeds = {0.0: 1, NOISE: 1} if quick else SEEDS
    with server(durable=False) as url:
        spans = {
            # Lengths that stay the same have no third run: the second knows them all.
            noise: [plays(url, seed, noise, PLAYS if noise else 2) for seed in range(number)]
            for noise, number in seeds.items()
        }
        figures += [shares(url, mix, 1 if quick else 3) for mix in (sharing.EVEN, sharing.UNEVEN, sharing.LONG)]
        figures.append(many_nodes(url, 200 if quick else NODES))
    ours = tuple(runs[1].ours for runs in spans[0.0])
    label = "makespan of WAA's tasks on 40 slots, the same lengths each time, second run, against the lower bound"
    figures.append(Figure(label, f"mean <= {MAKESPAN}", "times", ours, fmean(ours) <= MAKESPAN))
    label = f"— the same, each length +- {NOISE:.0%} from run to run: assumed"
    figures.append(Figure(label, "", "times", tuple(runs[1].ours for runs in spans[NOISE])))
    markdown = page(figures, began, HEAD) + makespans(spans)
    sys.stdout.write(markdown)
    if not quick:
        PAGE.write_text(markdown)
    return 0 if all(figure.met is not False for figure in figures) else 1


def shares(url: str, mix: sharing.Mix, seeds: int) -> Figure:
    """The fair-share error of these projects."""
    errors = tuple(sharing.error(url, seed, mix) * 100 for seed in range(seeds))
    hours = f"{mix.hours:g} virtual hour{'' if mix.hours == 1 else 's'}"
    minutes = " to ".join(f"{pick(mix.seconds.values()) / 60:g}" for pick in (min, max))
    label = f"fair-share error, {hours} of episodes of {minutes} minutes on {mix.slots} slots"
    due = f"{label}, {mix.due_to_the_least:g} of them due to the least"
    return Figure(due, "every one <= 5 %", "%", errors, max(errors) <= SHARE)


def many_nodes(url: str, nodes: int) -> Figure:
    """Violations where nodes play as many episodes as they have slots, and a quarter more."""
    result = crowd(url, nodes, SLOTS, REPEATS * nodes // NODES)
    for violation in result.violations[:20]:
        sys.stderr.write(f"{violation}\n")
    label = f"violations among {result.episodes:,} episodes on {result.slots:,} slots of {nodes:,} nodes, "
    label += f"{result.seconds / 60:.0f} virtual minutes"
    return Figure(label, "none", "", (float(len(result.violations)),), not result.violations)


@contextmanager
def server(*, durable: bool) -> Iterator[str]:
    """A PostgreSQL server with the template of all databases."""
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as folder:
        running = start_postgres(Path(folder) / "postgres", durable=durable)
        try:
            databases.make_template(running.url)
            yield running.url
        finally:
            running.stop()


def loaded(server_url: str, repeats: int) -> list[Figure]:
    """Rate and latency in real time, with four projects' 12 runs of all tasks and one urgent run."""
    with databases.copied(server_url) as url, world(url) as new_world:
        queued = filled(new_world, repeats)
        burst = load.simulate(url, None, 120.0)
        rate = load.lease_rate(burst.holds)
        seconds_per_lease = burst.processor / len(burst.holds)
        figures = [
            Figure(
                f"leases a second, {len(burst.holds):,} free slots, {queued:,} queued",
                ">= 200",
                "/s",
                (rate,),
                rate >= RATE,
            ),
            Figure("processor time of a lease, workers' part and PostgreSQL's", "", "ms", (seconds_per_lease * 1000,)),
            Figure(
                f"leases a second for which {CORES} cores have the processor time: computed",
                "",
                "/s",
                (CORES / seconds_per_lease,),
            ),
        ]
        free_all(new_world)
        return figures + steady(url, HOLD)


def steady(url: str, hold: float) -> list[Figure]:
    """Attempts begin, write their steps and end on all slots."""
    run = load.simulate(url, hold, LASTS)
    full = load.full_at(run.holds)
    waits = tuple(load.waits(run.holds, full))
    if not waits:
        raise SystemExit(f"the machine is too busy: {full:.0f} s until all slots had an attempt, and none ended then")
    half, most = percentile(waits, 0.5), percentile(waits, 0.95)
    rate = len(waits) / (LASTS - full)
    label = f"free slot to lease, {rate:.1f} attempts a second begin, write {STEP_BUDGET} steps and end"
    # Those that were caught in the middle and those that did not end are halves: as many as ended were whole.
    milliseconds = run.processor / sum(hold.ended_at is not None for hold in run.holds) * 1000
    return [
        Figure(label, "p50 <= 50 ms", "ms", waits, half <= P50),
        Figure("— the same", "p95 <= 250 ms", "ms", waits, most <= P95),
        Figure(
            f"processor time of an attempt: lease, {STEP_BUDGET} steps, other writes, heartbeats",
            "",
            "ms",
            (milliseconds,),
        ),
    ]


def filled(world: World, repeats: int) -> int:
    """Queues the episodes; returns how many."""
    import_tasks(world, TASKS)
    world.worker("first", slots_by_provider={"local": 1}, node="first")
    submit_all(world, load.shares(TASKS, repeats))
    vacuumed(world)
    with world.work() as session:
        # The worker that only lets runs be submitted takes no part.
        session.execute(text("UPDATE worker SET state = 'offline'"))
        return int(session.scalar(text("SELECT count(*) FROM episode WHERE state = 'waiting'")) or 0)


def free_all(world: World) -> None:
    """Ends all workers of the burst: leases end, episodes wait again."""
    from backend.services.lifecycle import lease_reaper

    world.do(lease_reaper.reap, lease_seconds=-1.0)


if __name__ == "__main__":
    sys.exit(main())
