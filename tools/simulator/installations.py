"""Installations to simulate in: projects with weights, a benchmark of many tasks, runs with many episodes."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import text

from backend.db.models import Run
from backend.db.repositories.accounts import projects
from backend.domain.model.task import Task
from backend.services.accounts.projects import actor_for
from backend.services.capacity.run_request import RunRequest
from backend.services.runs.runs import submit_run
from tests import databases
from tests.factories.records import World, world
from tests.factories.tasks import make_benchmark, make_task
from tools.simulator.clock import SimulationClock, replace_clock, simulated_time
from tools.simulator.durations import waa_tasks

BENCHMARK = "simulated"


@contextmanager
def real_time(server: str) -> Iterator[World]:
    """An empty installation on that server, by the database's own clock."""
    with databases.copied(server) as url, world(url) as new_world:
        yield new_world


@contextmanager
def virtual_time(server: str, clock: SimulationClock) -> Iterator[World]:
    """An empty installation on that server whose database uses the time of `clock`."""
    with databases.copied(server) as url:
        replace_clock(url)
        with world(url) as new_world, simulated_time(new_world.factory.kw["bind"], clock):
            yield new_world


@dataclass(frozen=True)
class ProjectShare:
    """A project with its weight and what it submits: for each run its patterns of tasks, repeats and priority."""

    name: str
    weight: float = 1.0
    runs: Sequence[Mapping[str, Any]] = field(default_factory=lambda: [{}])


def import_tasks(world: World, number: int) -> UUID:
    """A benchmark with a number of tasks in domains of a hundred; returns its task set."""
    tasks = [make_task(f"d{at // 100:03}", f"t{at:05}") for at in range(number)]
    return world.benchmark(make_benchmark(*tasks), BENCHMARK)


def import_waa(world: World) -> UUID:
    """WAA's tasks by name, in its order; the tasks themselves are of no matter here."""
    tasks: list[Task] = [make_task(task.domain, task.name) for task in waa_tasks()]
    return world.benchmark(make_benchmark(*tasks), BENCHMARK)


def submit_all(world: World, shares: Sequence[ProjectShare]) -> dict[UUID, str]:
    """Submits the projects' runs; returns each run's project. Requires a registered worker."""
    return {submit(world, share, **run).id: share.name for share in shares for run in share.runs}


def submit(world: World, share: ProjectShare, agent: str = "noop", priority: int = 0, **request: Any) -> Run:
    """Submits one run of a project."""
    with world.work() as session:
        project = projects.get_or_make(session, share.name)
        project.weight = share.weight
        run_request = RunRequest(benchmark=BENCHMARK, agent=agent, **request)
        run = submit_run(session, run_request, project=project, actor=actor_for(session, project))
        run.priority = priority
        return run


def vacuumed(world: World) -> None:
    """Statistics as they are after a while of use: autovacuum would come in the middle of a measurement."""
    with world.factory.kw["bind"].connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE"))
