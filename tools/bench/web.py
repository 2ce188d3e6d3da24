"""`make bench-web`: measures pages, a roll-up and an export with 1,000,000 episodes of 40 configurations.

A real PostgreSQL that waits for the disk holds the episodes, each with an attempt, an evaluation and three measures.
Processes of the service answer on loopback. Each page is requested 50 times a second (`--rate`), whether or not earlier
requests are answered, so waiting counts. Writes docs/reports/performance-web.md; ends with 1 if an aim is missed. With
`--quick` there are 20,000 episodes, fewer requests, and nothing is written.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Thread
from uuid import UUID

import httpx
from sqlalchemy import select, text

from backend.db.models import Benchmark, Run, Task
from backend.services.results import rollup_jobs
from backend.services.results.leaderboards import leaderboard
from tests.factories.records import World
from tests.integration.worker.stack import WorkerStack
from tools.bench.figures import Figure, page, percentile
from tools.bench.leaderboard import filled
from tools.bench.viewer import ApiServers

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reports" / "performance-web.md"
CONFIGURATIONS, PROCESSES = 40, 2
RATE, SECONDS, WRITES = 50, 10, 5
"""Requests a second by default, for how long each page is requested, and commits a second meanwhile."""
ANEW = 20
"""Requests of each page that have it computed."""
PATIENCE_SECONDS = 20
"""A request without an answer for so long has failed."""
PAGE_MS, QUERY_MS, ROLLUP_SECONDS, FIRST_BYTE_SECONDS, EXPORT_SECONDS = 100.0, 50.0, 1.0, 1.0, 20.0
HEAD = f"""# Performance of pages

Measured by `make bench-web`, which writes this page: {{episodes:,}} scored episodes of {CONFIGURATIONS} configurations
on {{tasks:,}} composed tasks, each with an attempt, an evaluation of five parts and three measures, in a real
PostgreSQL that waits for the disk. {PROCESSES} processes of the service answer on loopback, compressed as browsers ask
for it. Each page is requested {{rate}} times a second for {SECONDS} s, whether or not earlier requests are answered;
the clock runs from the planned moment until the whole answer is there. Database, service and the program that asks
share the machine.

A page is sent again while nothing in the database changes
([decision 22](../internals/decisions/0022-pages-shared-while-nothing-changes.md)). *While it changes* means that
another program commits {WRITES} times a second, as a worker does that records steps: then each process computes the
page again after each commit, boards once a second. *Alone and anew* is one request after the other, each of which
has the page computed, as for the first reader: processor time of the service.

"""


@dataclass(frozen=True)
class TimedResponse:
    """One request: milliseconds from its planned moment to the end of the answer, its status, and its size as sent."""

    milliseconds: float
    status: int
    size: int


def main() -> int:
    """Measures, writes the page; the exit code tells whether all aims were met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=1_000_000)
    parser.add_argument("--rate", type=int, default=RATE, help="requests a second")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    episodes = 20_000 if options.quick else options.episodes
    load, tasks = os.getloadavg()[0], episodes // CONFIGURATIONS
    with installation() as stack:
        _say(f"storing {episodes:,} episodes")
        runs = filled(stack.world, tasks, CONFIGURATIONS)
        figures = measure(stack, runs, options.rate, 2 if options.quick else SECONDS)
    head = HEAD.format(episodes=episodes, tasks=tasks, rate=options.rate)
    markdown = page(figures, load, head)
    sys.stdout.write(markdown)
    if not options.quick:
        PAGE.write_text(markdown)
    return 0 if all(figure.met is not False for figure in figures) else 1


def _say(message: str) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {message}\n")


@contextmanager
def installation() -> Iterator[WorkerStack]:
    """An empty installation with database and broker, without workers."""
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as folder:
        stack = WorkerStack(Path(folder), durable=True)
        try:
            yield stack
        finally:
            stack.close()


def measure(stack: WorkerStack, runs: Sequence[UUID], rate: int, seconds: int) -> list[Figure]:
    """All figures, in the page's order."""
    _say("the board's query and a roll-up")
    figures = [board_query(stack.world), roll_up(stack.world, runs[0])]
    for label, address in addresses(stack.world, runs).items():
        _say(label)
        with serving(stack) as servers:
            figures += page_figures(stack, servers, label, address, rate, seconds)
    _say("an export")
    with serving(stack) as servers:
        return [*figures, *export(servers.address, runs[0])]


@contextmanager
def serving(stack: WorkerStack) -> Iterator[ApiServers]:
    """Processes of the service, new for each page: a slow one leaves no work to the next."""
    servers = ApiServers(stack.environment, PROCESSES)
    try:
        yield servers
    finally:
        servers.stop()


def page_figures(  # noqa: PLR0913, PLR0917 - what is measured where
    stack: WorkerStack, servers: ApiServers, label: str, address: str, rate: int, seconds: int
) -> list[Figure]:
    """The figures of a page: while nothing changes, while something does, and its processor time alone."""
    quiet = page_figure(label, asyncio.run(responses(servers.address, address, rate, seconds)))
    with writing(stack.world):
        busy = page_figure(
            f"{label}, while it changes", asyncio.run(responses(servers.address, address, rate, seconds))
        )
    return [quiet, busy, anew(servers, label, address)]


@contextmanager
def writing(world: World) -> Iterator[None]:
    """Commits `WRITES` times a second meanwhile."""
    over = Event()

    def write() -> None:
        while not over.wait(1 / WRITES):
            world.do(lambda session: session.execute(text("UPDATE project SET name = name")))

    thread = Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def anew(servers: ApiServers, label: str, address: str) -> Figure:
    """Milliseconds of the service's processor time for a page that is computed."""
    headers = {"Accept": "text/html", "Accept-Encoding": "gzip", "Cache-Control": "no-cache"}
    with httpx.Client(base_url=servers.address, headers=headers, timeout=PATIENCE_SECONDS) as client:
        client.get(address)
        before = servers.processor_seconds()
        for _ in range(ANEW):
            client.get(address).raise_for_status()
    return Figure(f"{label}, alone and anew", "", "ms", ((servers.processor_seconds() - before) / ANEW * 1000,))


def addresses(world: World, runs: Sequence[UUID]) -> dict[str, str]:
    """The measured pages by name."""
    with world.work() as session:
        benchmark = session.scalars(select(Benchmark.name)).one()
        task = session.scalars(select(Task.id).limit(1)).one()
        configuration = session.get_one(Run, runs[0]).agent_configuration_id
    return {
        "home": "/",
        "list of runs": "/runs",
        "run": f"/runs/{runs[0]}",
        "board": f"/leaderboards/{benchmark}",
        "benchmark": f"/benchmarks/{benchmark}",
        "task": f"/tasks/{task}",
        "configuration": f"/configurations/{configuration}",
        "comparison of two runs": f"/compare?run={runs[0]}&run={runs[1]}",
        "new run": "/runs/new",
    }


def board_query(world: World) -> Figure:
    """The board's rows from the database, without the page."""
    values = []
    for number in range(25):
        start = time.perf_counter()
        world.do(leaderboard, "graphs")
        if number >= 5:  # noqa: PLR2004 - the first ones open connections
            values.append((time.perf_counter() - start) * 1000)
    return _figure("the board's rows, without the page", "p95", QUERY_MS, "ms", values)


def roll_up(world: World, run_id: UUID) -> Figure:
    """Seconds to compute everything that is stored of a run."""
    values = []
    for _ in range(3):
        world.do(lambda session: session.execute(STALE, {"id": run_id}))
        start = time.perf_counter()
        rollup_jobs.renew(world.factory, run_id)
        values.append(time.perf_counter() - start)
    return _figure("computing the roll-ups of a run, not within a request", "p95", ROLLUP_SECONDS, "s", values)


STALE = text("UPDATE run SET rollup_stale = true, rollup_as_of = NULL WHERE id = :id")


async def responses(base: str, address: str, rate: int, seconds: int) -> list[TimedResponse]:
    """Requests an address `rate` times a second for `seconds`."""
    limits = httpx.Limits(max_connections=200, max_keepalive_connections=200)
    async with httpx.AsyncClient(base_url=base, timeout=PATIENCE_SECONDS, limits=limits) as client:
        for _ in range(4):  # Opens connections and reads templates.
            await _response(client, address, time.perf_counter())
        start, tasks = time.perf_counter(), []
        for number in range(seconds * rate):
            planned = start + number / rate
            await asyncio.sleep(planned - time.perf_counter())
            tasks.append(asyncio.create_task(_response(client, address, planned)))
        return await asyncio.gather(*tasks)


async def _response(client: httpx.AsyncClient, address: str, planned: float) -> TimedResponse:
    headers, status, size = {"Accept": "text/html", "Accept-Encoding": "gzip"}, httpx.codes.GATEWAY_TIMEOUT, 0
    with suppress(httpx.TimeoutException):
        async with client.stream("GET", address, headers=headers) as response:
            size = sum([len(part) async for part in response.aiter_raw()])
            status = httpx.codes(response.status_code)
    return TimedResponse((time.perf_counter() - planned) * 1000, status, size)


def page_figure(label: str, answers: Sequence[TimedResponse]) -> Figure:
    """The figure of a page, with its size as sent and failed requests, which miss the aim."""
    kilobytes = percentile([answer.size / 1000 for answer in answers], 0.5)
    failed = sum(answer.status != httpx.codes.OK for answer in answers)
    values = [answer.milliseconds for answer in answers]
    figure = _figure(f"{label} ({kilobytes:.0f} kB)", "p95", PAGE_MS, "ms", values)
    return replace(figure, what=f"{figure.what}, {failed} failed", met=False) if failed else figure


def export(base: str, run_id: UUID) -> list[Figure]:
    """The export of a run: one JSON line per episode."""
    address, query = f"{base}/api/v1/runs/{run_id}/export", {"format": "jsonl"}
    start, first, size = time.perf_counter(), 0.0, 0
    with httpx.stream("GET", address, params=query, timeout=600) as response:
        response.raise_for_status()
        for part in response.iter_raw():
            first = first or time.perf_counter() - start
            size += len(part)
    seconds = time.perf_counter() - start
    return [
        _figure("export of a run: the first bytes", "at most", FIRST_BYTE_SECONDS, "s", [first]),
        _figure(f"export of a run: everything ({size / 1e6:.0f} MB)", "at most", EXPORT_SECONDS, "s", [seconds]),
    ]


def _figure(label: str, word: str, most: float, unit: str, values: Sequence[float]) -> Figure:
    return Figure(label, f"{word} {most:g} {unit}", unit, tuple(values), percentile(values, 0.95) <= most)


if __name__ == "__main__":
    sys.exit(main())
