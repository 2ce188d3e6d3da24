"""`make bench-load MINUTES=10`, `make soak MINUTES=120`: the service under a mixed load beside a run on real desktops.

Readers request pages and the API at a fixed rate, whether or not earlier requests are answered, and writers change
things over REST meanwhile, first with one process of the service, then with two. The run's agent asks a model that
takes its time, on this machine. Memory, open files and connections of every process are sampled. Writes
docs/reports/performance-load.md, with `--soak` the page soak.md beside it; ends with 1 if an aim is missed. With
`--quick` it writes nothing.
"""

import argparse
import asyncio
import itertools
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from threading import Event, Thread
from uuid import UUID

import httpx
import psutil
from sqlalchemy import select, text

from backend.db.models import AgentConfiguration, Episode
from tests.fakes.model_apis import ScriptedReply
from tests.fakes.model_server import ModelServer, ReceivedRequest, model_server
from tests.integration.worker.stack import WorkerStack
from tools.bench.figures import measured_on, percentile
from tools.bench.leaderboard import filled
from tools.bench.viewer import ApiServers

REPORTS = Path(__file__).resolve().parents[2] / "docs" / "reports"
TASKS, CONFIGURATIONS = 1000, 10
READS, WRITES = 50, 5
SOAK_READS, SOAK_WRITES = 10, 1
"""Requests a second."""
SAMPLE_SECONDS, PATIENCE_SECONDS = 5.0, 30.0
AIM_MS, MOST_GROWTH = 200.0, 0.1
"""Of a process's memory, and in a soak of its files and the database's connections, between the second and the last
quarter of the time."""
SERVER_ERROR = 500
HEADERS = {"Accept-Encoding": "gzip"}
PAGE, JSON = "text/html", "application/json"
BAD = 400
WEIGHTS = (1, 2, 3, 3, 1, 2, 1, 1, 1, 1, 4, 1, 1, 2, 1, 1)
"""Of `LoadMix.reads`, in its order: what people and programs ask for, people about as often as programs."""
SEED, MOST_EPISODES, WARM_UP = 23, 2000, 300
MODEL_SECONDS = 3.0
"""How long the model of the run that goes on takes for an action."""
ENDPOINT = """[endpoints.local]
api = "openai_chat"
base_url = "{address}/v1"
"""
Request = tuple[str, str, str | dict[str, object] | None]
"""Method, address, and the accepted type of a page or the body of a change."""
TITLE = {False: "# Performance under a mixed load", True: "# Soak"}
HEAD = """

Measured by `make {target} MINUTES={minutes:g}`, which writes this page: {reads} requests a second of pages and of the
API, mixed and spread over all runs, episodes and tasks, and {writes} changes a second over REST, on a database of
{episodes:,} episodes, while a run of the starter benchmark's tasks goes on, on two real desktops, with a model that
takes {model:g} s for an action. The clock of a request runs from its planned moment until the whole answer is there.
Database, broker, worker, desktops, model and the program that asks share the machine.

"""


@dataclass(frozen=True)
class LoadAnswer:
    """A request: seconds since the start of the load, milliseconds from its planned moment, and its status."""

    kind: str
    at: float
    milliseconds: float
    status: int


@dataclass
class Samples:
    """Of each process by name, over time: MiB of memory, open files and sockets; and the database's connections."""

    memory: dict[str, list[float]] = field(default_factory=dict)
    files: dict[str, list[float]] = field(default_factory=dict)
    connections: list[float] = field(default_factory=list)

    def take(self, processes: Mapping[str, psutil.Process]) -> None:
        for name, process in processes.items():
            with process.oneshot():
                self.memory.setdefault(name, []).append(process.memory_info().rss / 2**20)
                self.files.setdefault(name, []).append(process.num_fds())


def growth(values: Sequence[float]) -> float:
    """Relative growth between the medians of the second and the last quarter; the first one warms up."""
    quarter = max(1, len(values) // 4)
    before = statistics.median(values[quarter : 2 * quarter] or values)
    return statistics.median(values[-quarter:]) / before - 1 if before else 0.0


def main() -> int:
    """Measures, writes the page; the exit code tells whether all aims were met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--soak", action="store_true")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    reads, writes = (SOAK_READS, SOAK_WRITES) if options.soak else (READS, WRITES)
    load, sections, met = os.getloadavg()[0], [], True
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as folder, model_server() as model:
        stack = WorkerStack(Path(folder), durable=True)
        try:
            mix = LoadMix(stack, model)
            for number in (2,) if options.soak else (1, 2):
                answers, samples = mix.measure(number, options.minutes * 60, reads, writes)
                words, good = section(number, answers, samples, soak=options.soak)
                sections.append(words)
                met = met and good
        finally:
            stack.close()
    target = "soak" if options.soak else "bench-load"
    facts = {"target": target, "minutes": options.minutes, "reads": reads, "writes": writes, "model": MODEL_SECONDS}
    head = HEAD.format(**facts, episodes=TASKS * CONFIGURATIONS)
    page = TITLE[options.soak] + head + measured_on(load) + "\n" + "".join(sections)
    sys.stdout.write(page)
    if not options.quick:
        (REPORTS / ("soak.md" if options.soak else "performance-load.md")).write_text(page)
    return 0 if met else 1


def _say(message: str) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {message}\n")


class LoadMix:
    """An installation with results and a worker, and the requests to it."""

    def __init__(self, stack: WorkerStack, model: ModelServer) -> None:
        _say(f"storing {TASKS * CONFIGURATIONS:,} episodes")
        self._stack = stack
        self._filled = filled(stack.world, TASKS, CONFIGURATIONS)
        with stack.world.work() as session:
            self._episodes = session.execute(select(Episode.id, Episode.task_id).limit(MOST_EPISODES)).all()
            self._configurations = session.scalars(select(AgentConfiguration.id)).all()
        model.answer = partial(_delayed_reply, model.ended)
        (stack.folder / "data" / "models.toml").write_text(ENDPOINT.format(address=model.address))
        stack.import_starter()
        stack.start_worker()

    def reads(self, run: UUID) -> Iterator[Request]:
        """Addresses without end, drawn from the mix with a fixed seed; `run` is the one that goes on."""
        random = Random(SEED)
        while True:
            episode, task = random.choice(self._episodes)
            first, other = random.sample(self._filled, 2)
            any_run = random.choice((run, first))
            yield random.choices(
                (
                    ("GET", "/", PAGE),
                    ("GET", "/runs", PAGE),
                    ("GET", f"/runs/{any_run}", PAGE),
                    ("GET", f"/episodes/{episode}", PAGE),
                    ("GET", f"/tasks/{task}", PAGE),
                    ("GET", "/leaderboards/graphs", PAGE),
                    ("GET", "/benchmarks/graphs", PAGE),
                    ("GET", f"/configurations/{random.choice(self._configurations)}", PAGE),
                    ("GET", f"/compare?run={first}&run={other}", PAGE),
                    ("GET", "/runs/new", PAGE),
                    ("GET", f"/api/v1/runs/{any_run}", None),
                    ("GET", "/api/v1/runs", None),
                    ("GET", f"/api/v1/runs/{any_run}/episodes", None),
                    ("GET", f"/api/v1/episodes/{episode}", None),
                    ("GET", "/api/v1/leaderboards/graphs", None),
                    ("GET", "/api/v1/workers", None),
                ),
                WEIGHTS,
            )[0]

    def writes(self, run: UUID) -> Iterator[Request]:
        """Changes without end, of the run that goes on and of a configuration's name."""
        for number in itertools.count():
            yield "PATCH", f"/api/v1/runs/{run}", {"priority": number // 2 % 2 + 1}
            yield "PATCH", f"/api/v1/configurations/{self._configurations[0]}", {"name": f"name {number // 2 % 2}"}

    def measure(self, number: int, seconds: float, reads: int, writes: int) -> tuple[list[LoadAnswer], Samples]:
        """Answers and samples of a load on this number of processes of the service."""
        _say(f"{number} process{'' if number == 1 else 'es'} of the service")
        servers = ApiServers(self._stack.environment, number)
        try:
            with self._running(servers.address) as run, self._sample(servers) as samples:
                answers = asyncio.run(self._load(servers.address, run, seconds, (reads, writes)))
        finally:
            servers.stop()
        return answers, samples

    @contextmanager
    def _running(self, address: str) -> Iterator[UUID]:
        """A run of many episodes on the worker's desktops, cancelled at the end."""
        body = {
            "benchmark": "starter",
            "agent": "prompt",
            "preset": "osworld",
            "params": {"model": "slow", "endpoint": "local"},
            "repeats": 100,
            "tasks": ["files/*"],
            "name": "beside",
        }
        run = httpx.post(f"{address}/api/v1/runs", json=body, timeout=PATIENCE_SECONDS).raise_for_status().json()
        try:
            yield UUID(run["id"])
        finally:
            httpx.post(f"{address}/api/v1/runs/{run['id']}/cancel", timeout=PATIENCE_SECONDS).raise_for_status()

    @contextmanager
    def _sample(self, servers: ApiServers) -> Iterator[Samples]:
        samples, over = Samples(), Event()
        processes = {f"API {at + 1}": psutil.Process(each.pid) for at, each in enumerate(servers.processes)}
        processes["worker"] = psutil.Process(self._stack.workers[0].pid)
        connections = text("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'")

        def sample() -> None:
            while not over.wait(SAMPLE_SECONDS):
                samples.take(processes)
                with self._stack.world.work() as session:
                    samples.connections.append(float(session.scalars(connections).one()))

        thread = Thread(target=sample)
        thread.start()
        try:
            yield samples
        finally:
            over.set()
            thread.join()

    async def _load(self, base: str, run: UUID, seconds: float, rates: tuple[int, int]) -> list[LoadAnswer]:
        limits = httpx.Limits(max_connections=200, max_keepalive_connections=200)
        async with httpx.AsyncClient(base_url=base, timeout=PATIENCE_SECONDS, limits=limits, headers=HEADERS) as client:
            for _, address, kind in set(itertools.islice(self.reads(run), WARM_UP)):  # Reads templates.
                (await client.get(address, headers=_accepting(kind))).raise_for_status()
            start = time.perf_counter()

            async def at_rate(kind: str, rate: int, requests: Iterator[Request]) -> list[LoadAnswer]:
                tasks = []
                for number in range(round(seconds * rate)):
                    planned = start + number / rate
                    await asyncio.sleep(planned - time.perf_counter())
                    tasks.append(asyncio.create_task(_answer(client, kind, next(requests), start, planned)))
                return await asyncio.gather(*tasks)

            both = await asyncio.gather(
                at_rate("read", rates[0], self.reads(run)), at_rate("write", rates[1], self.writes(run))
            )
        return [*both[0], *both[1]]


def _accepting(content: str | dict[str, object] | None) -> dict[str, str]:
    return {"Accept": content if isinstance(content, str) else JSON}


async def _answer(client: httpx.AsyncClient, kind: str, request: Request, start: float, planned: float) -> LoadAnswer:
    method, address, content = request
    headers = _accepting(content)
    body = content if isinstance(content, dict) else None
    if body:
        headers["If-Match"] = "*"
    status = int(httpx.codes.GATEWAY_TIMEOUT)
    try:
        async with client.stream(method, address, json=body, headers=headers) as response:
            async for _ in response.aiter_raw():  # As sent: it need not be unpacked.
                pass
            status = response.status_code
    except httpx.TransportError as error:
        _say(f"{method} {address}: {error!r}")
    if status >= BAD:
        _say(f"{method} {address}: {status}")
    now = time.perf_counter()
    return LoadAnswer(kind, now - start, (now - planned) * 1000, status)


def _delayed_reply(ended: Event, _: ReceivedRequest) -> ScriptedReply:
    """The model's reply after a delay: an action that changes nothing."""
    ended.wait(MODEL_SECONDS)
    return ScriptedReply("I look at the folder.\n```python\npyautogui.moveTo(400, 300)\n```", tokens=(1000, 0, 20))


def section(number: int, answers: Sequence[LoadAnswer], samples: Samples, *, soak: bool = False) -> tuple[str, bool]:
    """Tables of a measurement, and whether it meets the aims: a soak's are about growth, not about time."""
    lines = [f"\n## {number} process{'' if number == 1 else 'es'} of the service\n"]
    lines += ["| requests | n | 5xx | other failures | p50 | p95 | p99 |", "|---|---|---|---|---|---|---|"]
    met = True
    for kind in ("read", "write"):
        own = [answer for answer in answers if answer.kind == kind]
        broken = sum(answer.status >= SERVER_ERROR for answer in own)
        refused = sum(400 <= answer.status < SERVER_ERROR for answer in own)  # noqa: PLR2004 - HTTP
        half, most, worst = (percentile([answer.milliseconds for answer in own], share) for share in (0.5, 0.95, 0.99))
        lines.append(
            f"| {kind}s | {len(own):,} | {broken} | {refused} | {half:.0f} ms | {most:.0f} ms | {worst:.0f} ms |"
        )
        met = met and not broken and not refused and (soak or most <= AIM_MS)
    lines += ["", "| process | memory at first | at the end | growth | files at first | at the end | growth |"]
    lines += ["|---|---|---|---|---|---|---|"]
    for name, memory in samples.memory.items():
        files = samples.files[name]
        lines.append(
            f"| {name} | {memory[0]:.0f} MiB | {memory[-1]:.0f} MiB | {growth(memory):+.1%} "
            f"| {files[0]:.0f} | {files[-1]:.0f} | {growth(files):+.1%} |"
        )
        met = met and growth(memory) <= MOST_GROWTH and not (soak and growth(files) > MOST_GROWTH)
    used = samples.connections
    met = met and not (soak and growth(used) > MOST_GROWTH)
    lines += [
        "",
        f"Connections of the database: {used[0]:.0f} at first, at most {max(used):.0f}, {used[-1]:.0f} at the",
    ]
    lines[-1] += f" end, growth {growth(used):+.1%}."
    aims = (
        f"no failure; memory, files and connections grow by at most {MOST_GROWTH:.0%}"
        if soak
        else f"no failure, p95 at most {AIM_MS:.0f} ms, memory grows by at most {MOST_GROWTH:.0%}"
    )
    lines += ["Growth compares the medians of the second and the last quarter of the time."]
    lines += [f"Aims: {aims}: **{'met' if met else 'missed'}**.", ""]
    return "\n".join(lines), met


if __name__ == "__main__":
    sys.exit(main())
