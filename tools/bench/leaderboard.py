"""`make bench-leaderboard`: measures a leaderboard over 36,000 tasks and three agents, with measures.

A real PostgreSQL holds 36,000 composed tasks in 20 domains, labelled with capabilities and complexities, and three
agents' runs of all of them: 108,000 scored episodes, each with an evaluation of five parts and three measures. Writes
docs/reports/performance-leaderboard.md; ends with 1 if an aim is missed. With `--quick` there are 2,000 tasks, fewer
samples, and nothing is written.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from uuid import UUID

from fastapi.testclient import TestClient
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from backend.cli.embedded.postgres import start_postgres
from backend.config import Settings
from backend.db.models import Attempt, Base, Episode, Evaluation, Measure, Task, TaskSet
from backend.db.repositories.benchmarks import labels
from backend.db.session import unit_of_work
from backend.services.results import rollup_jobs
from backend.web.app import create_app
from tests import databases
from tests.factories.measured import benchmark_of, finish, graph_task, verdict
from tests.factories.records import World, world
from tests.factories.scene import rename_agent
from tools.bench.figures import Figure, page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reports" / "performance-leaderboard.md"
TASKS, AGENTS, MOST = 36_000, 3, 100.0
HEAD = """# Performance of leaderboards

Measured by `make bench-leaderboard`, which writes this page: a leaderboard over 36,000 composed tasks in 20 domains,
with capabilities and complexities, and three agents that did all of them. 108,000 scored episodes, each with an
evaluation of five parts and three measures, lie in a real PostgreSQL that waits for the disk as it does in use. The
clock runs from the request until the whole answer is there, through the service with all its layers, without a network.
The roll-ups are up to date: workers compute them outside the run's lock. The last lines say what that takes for one
run, and how long whoever locks the run meanwhile waits at most.

"""


def main() -> int:
    """Measures, writes the page; the exit code tells whether all targets were met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    load = os.getloadavg()[0]
    with installation() as world:
        runs = filled(world, 2_000 if quick else TASKS, AGENTS)
        figures = [*answers(world, 5 if quick else 60), *recomputed(world, runs)]
    markdown = page(figures, load, HEAD)
    sys.stdout.write(markdown)
    if not quick:
        PAGE.write_text(markdown)
    return 0 if all(figure.met is not False for figure in figures) else 1


@contextmanager
def installation() -> Iterator[World]:
    """An empty installation on its own PostgreSQL."""
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as folder:
        server = start_postgres(Path(folder) / "postgres", durable=True)
        try:
            databases.make_template(server.url)
            with databases.copied(server.url) as url, world(url) as new_world:
                yield new_world
        finally:
            server.stop()


def filled(world: World, tasks: int, agents: int) -> list[UUID]:
    """One episode per agent goes through all states; the others are copies with other results. Returns the runs."""
    world.benchmark(benchmark_of(graph_task("g", 0)), name="graphs")
    worker, runs = world.worker(slots=1), []
    for number in range(agents):
        run = world.submit("random", "graphs", seed=number)
        claim = world.must_claim(worker)
        measures = {"CR": 0.4, "LC": 0.5}
        finish(world, claim, verdict(claim.task, [1, 2, None, None, None], 0.0, measures))
        rename_agent(world, run, f"agent-{number}")
        runs.append(run.id)
    with unit_of_work(world.factory) as session:
        # Copies of right rows are right: their references are not looked up.
        session.execute(text("SET LOCAL session_replication_role = replica; SET LOCAL statement_timeout = 0"))
        _multiply(session, tasks)
        session.execute(
            text("UPDATE task_set SET counts = counts || jsonb_build_object('tasks', CAST(:n AS int))"), {"n": tasks}
        )
        labels.count(session, session.scalars(select(TaskSet.id)).one())
    with unit_of_work(world.factory) as session:
        session.execute(text("ANALYZE"))
    for run_id in runs:
        rollup_jobs.renew(world.factory, run_id)
    return runs


def _multiply(session: Session, tasks: int) -> None:
    """Copies the task with everything that belongs to it; `copy` numbers the copies."""
    levels = "(ARRAY['easy', 'medium', 'hard'])"
    complexities = ", ".join(
        f"'{name}', {levels}[1 + (copy + {at}) % 3]"
        for at, name in enumerate(("dependency", "instruction", "knowledge", "hierarchy", "branch"))
    )
    letters = 'CASE copy % 2 WHEN 0 THEN \'["PP", "LRP", "DI"]\' ELSE \'["CDK", "DSK", "LIF", "SI"]\' END::jsonb'
    extra = f"jsonb_build_object('complexity', jsonb_build_object({complexities}), 'capabilities', {letters})"
    series = f"generate_series(1, {tasks - 1}) AS copy"
    task = {
        "id": "gen_random_uuid()",
        "domain": "'domain-' || copy % 20",
        "name": "'task-' || copy",
        "spec": f"jsonb_set(o.spec, '{{labels,extra}}', {extra})",
    }
    _copy(session, Task, task, f"task o, {series}")
    session.execute(text("CREATE TEMP TABLE number AS SELECT id, row_number() OVER () AS n FROM task"))
    solved = "(n * 7 + ascii(right(o.run_id::text, 1))) % 10 < 3"
    episode = {
        "id": "gen_random_uuid()",
        "task_id": "number.id",
        "solved": solved,
        "score": f"({solved})::int::float",
        "ended_at": "now() - random() * interval '400 days'",
    }
    _copy(session, Episode, episode, "episode o, number WHERE number.id <> o.task_id")
    attempt = {"id": "gen_random_uuid()", "episode_id": "e.id"}
    other = "JOIN episode own ON own.id = o.episode_id JOIN episode e ON e.run_id = own.run_id AND e.id <> own.id"
    _copy(session, Attempt, attempt, f"attempt o {other}")
    evaluation = {"id": "gen_random_uuid()", "attempt_id": "a.id", "score": "e.score"}
    of = "JOIN attempt oa ON oa.id = o.attempt_id JOIN episode own ON own.id = oa.episode_id"
    of += " JOIN episode e ON e.run_id = own.run_id AND e.id <> own.id JOIN attempt a ON a.episode_id = e.id"
    _copy(session, Evaluation, evaluation, f"evaluation o {of}")
    measure = {
        "evaluation_id": "v.id",
        "value": "CASE o.name WHEN 'score' THEN v.score ELSE floor(random() * 16) / 15 END",
    }
    # The first run's verdict is copied; LC is undefined for a fifth.
    source = """measure o JOIN evaluation v ON v.id NOT IN (SELECT evaluation_id FROM measure)
        WHERE o.evaluation_id = (SELECT min(evaluation_id::text)::uuid FROM measure)
        AND (o.name <> 'LC' OR random() < 0.8)"""
    _copy(session, Measure, measure, source)


def _copy(session: Session, table: type[Base], changed: Mapping[str, str], source: str) -> None:
    """Inserts copies of the rows `o` of the source, some of their columns changed."""
    names = [column.name for column in table.__table__.columns if column.computed is None]
    values = ", ".join(changed.get(name, f'o."{name}"') for name in names)
    listed = ", ".join(f'"{name}"' for name in names)
    session.execute(text(f"INSERT INTO {table.__tablename__} ({listed}) SELECT {values} FROM {source}"))  # noqa: S608 - our own words


def answers(world: World, times: int) -> list[Figure]:
    """Page and REST, each so often."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        client = TestClient(
            create_app(Settings(data_dir=Path(folder)), world.factory, world.store), base_url="http://127.0.0.1:8000"
        )
        return [
            _time_requests(client, "the page of the leaderboard", "/leaderboards/graphs", times),
            _time_requests(client, "the leaderboard over REST", "/api/v1/leaderboards/graphs", times),
            _time_requests(client, "the radar's figure", "/leaderboards/graphs/capability.json", times),
        ]


def _time_requests(client: TestClient, label: str, address: str, times: int) -> Figure:
    values = []
    for at in range(times + 3):
        start = time.perf_counter()
        answer = client.get(address, headers={"Accept": "text/html"})
        spent = (time.perf_counter() - start) * 1000
        if answer.status_code != 200:  # noqa: PLR2004 - HTTP
            raise SystemExit(f"{address}: {answer.status_code} {answer.text[:500]}")
        if at >= 3:  # The first ones open connections and read templates.
            values.append(spent)
    half = sorted(values)[len(values) // 2]
    return Figure(label, f"p50 <= {MOST:.0f} ms", "ms", tuple(values), half <= MOST)


def recomputed(world: World, runs: list[UUID]) -> list[Figure]:
    """Seconds to compute a run's roll-ups, and how long others wait for its lock meanwhile."""
    seconds, longest = [], []
    for run_id in runs:
        with world.work() as session:
            session.execute(
                text("UPDATE run SET rollup_stale = true, rollup_as_of = NULL WHERE id = :id"), {"id": run_id}
            )
        with waiting(world, run_id) as waits:
            start = time.perf_counter()
            rollup_jobs.renew(world.factory, run_id)
            seconds.append(time.perf_counter() - start)
        longest.append(max(waits) * 1000)
    return [
        Figure("computing all roll-ups of one run, not within a request", "", "s", tuple(seconds)),
        Figure("— the longest wait for the run's lock meanwhile", "", "ms", tuple(longest)),
    ]


@contextmanager
def waiting(world: World, run_id: UUID) -> Iterator[list[float]]:
    """Locks the run again and again, as attempts do that begin and end; seconds that each took with its commit."""
    waits, over = list[float](), Event()

    def lock() -> None:
        while not over.wait(0.002):
            start = time.perf_counter()
            with world.work() as session:
                session.execute(text("SELECT id FROM run WHERE id = :id FOR NO KEY UPDATE"), {"id": run_id})
            waits.append(time.perf_counter() - start)

    thread = Thread(target=lock)
    thread.start()
    try:
        yield waits
    finally:
        over.set()
        thread.join()


if __name__ == "__main__":
    sys.exit(main())
