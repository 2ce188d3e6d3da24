"""A page's reads do not grow with the number of tasks: statements and rows of a benchmark of 20 and of 700."""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from backend.db.models import Run, Task, TaskSet
from backend.services.results import rollup_jobs
from backend.services.runs import runs
from backend.services.runs.views.new_run import MOST_TASKS
from tests import databases
from tests.factories.records import World, world
from tests.factories.tasks import make_benchmark, make_task
from tests.integration.web.conftest import Reads, client_of, counted

PAGE = {"Accept": "text/html"}
SIZES = {"small": 20, "large": MOST_TASKS + 200}
DOMAINS = 10
PAGES = {
    "home": "/",
    "list of runs": "/runs",
    "run": "/runs/{run}",
    "board": "/leaderboards/{benchmark}",
    "benchmark": "/benchmarks/{benchmark}",
    "task": "/tasks/{task}",
    "configuration": "/configurations/{configuration}",
    "new run": "/runs/new?benchmark={benchmark}",
    "new run of a domain": "/runs/new?benchmark={benchmark}&tasks=domain-1/*",
    "new run of a label": "/runs/new?benchmark={benchmark}&where=difficulty%3Deasy",
}
MOST_ROWS, MOST_STATEMENTS = 400, 45


@dataclass(frozen=True)
class Sizes:
    """An installation with an ended run of each benchmark; `values` fill the addresses of one's pages."""

    world: World
    client: TestClient
    values: dict[str, dict[str, UUID | str]]

    def reads(self, page: str, benchmark: str) -> Reads:
        """The page's reads, once the process has its caches; the least, for some caches live a second only."""
        address, found = PAGES[page].format(**self.values[benchmark]), []
        assert self.client.get(address, headers=PAGE).status_code == 200
        for _ in range(3):
            with counted(self.world) as reads:
                self.client.get(address, headers=PAGE)
            found.append(reads)
        return min(found, key=lambda reads: reads.statements)


@pytest.fixture(scope="module")
def sizes(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sizes]:
    with databases.copied(postgres_server) as url, world(url) as installation:
        installation.worker()
        values = {name: _run_of(installation, name, number) for name, number in SIZES.items()}
        yield Sizes(installation, client_of(installation, tmp_path_factory.mktemp("data")), values)


def _run_of(installation: World, benchmark: str, number: int) -> dict[str, UUID | str]:
    tasks = [
        make_task(f"domain-{at % DOMAINS}", f"task-{at}", difficulty=("easy", "hard")[at % 2]) for at in range(number)
    ]
    installation.benchmark(make_benchmark(*tasks), name=benchmark)
    run = installation.submit("noop", benchmark)
    installation.do(runs.cancel_run, run.id)
    assert rollup_jobs.renew(installation.factory, run.id)
    with installation.work() as session:
        task = session.scalars(select(Task.id).join(TaskSet).where(TaskSet.id == run.task_set_id).limit(1)).one()
        configuration = session.get_one(Run, run.id).agent_configuration_id
    return {"benchmark": benchmark, "run": run.id, "task": task, "configuration": configuration}


class TestPages:
    @pytest.mark.parametrize("page", PAGES)
    def test_reads_as_much_of_a_large_benchmark_as_of_a_small_one(self, sizes: Sizes, page: str) -> None:
        small, large = sizes.reads(page, "small"), sizes.reads(page, "large")
        assert large.statements <= small.statements
        assert large.statements <= MOST_STATEMENTS
        assert large.rows <= MOST_ROWS


class TestNewRun:
    def test_lists_the_tasks_of_a_small_benchmark(self, sizes: Sizes) -> None:
        assert _ticks(sizes, "benchmark=small") == SIZES["small"]

    @pytest.mark.parametrize(
        ("query", "tasks"),
        [
            ("", 0),
            ("&open=domain-1", SIZES["large"] // DOMAINS),
            ("&tasks=domain-1/task-1&tasks=domain-2/task-2", 2),
            ("&find=TASK-69", 11),
            ("&find=task-69&open=domain-1&tasks=domain-2/task-2", 12),
        ],
    )
    def test_large_benchmark_lists_opened_matching_and_selected_tasks(
        self, sizes: Sizes, query: str, tasks: int
    ) -> None:
        assert _ticks(sizes, f"benchmark=large{query}") == tasks

    def test_a_domain_is_selected_without_its_list(self, sizes: Sizes) -> None:
        text = sizes.client.get("/runs/new?benchmark=large&tasks=domain-1/*", headers=PAGE).text
        assert f'<div class="value">{SIZES["large"] // DOMAINS}</div>' in text


def _ticks(sizes: Sizes, query: str) -> int:
    text = sizes.client.get(f"/runs/new?{query}", headers=PAGE).text
    return text.count('data-new-run-target="task"')
