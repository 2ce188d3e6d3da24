"""Counts of selected tasks by the database are those that come of looking at each task."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from backend.db.repositories.benchmarks import benchmark_parts, tasks
from backend.db.repositories.benchmarks.task_groups import task_groups, task_rows
from backend.domain.errors import Invalid
from backend.domain.model.reason import Reason
from backend.domain.model.task import Variant
from backend.services.benchmarks import quarantine
from backend.services.benchmarks.benchmarks import latest_task_set
from backend.services.benchmarks.variants import without_variant
from backend.services.capacity.config_checks import resolved_config
from backend.services.capacity.run_request import RunRequest, select_tasks
from backend.services.capacity.worker_capabilities import capabilities
from backend.services.runs.forecast import forecast
from backend.services.runs.runnability import reasons
from backend.services.runs.task_selection import selection_of
from tests import databases
from tests.factories.records import World, world
from tests.factories.tasks import make_benchmark, make_task

TASKS = (
    make_task("calc", "sum", difficulty="easy", requires=("localc",)),
    make_task("calc", "sum_twice", difficulty="hard", requires=("localc",)),
    make_task("calc", "plot", level="L2"),
    make_task("files", "rename", difficulty="easy"),
    make_task("files", "rename2", os="windows"),
    make_task("files", "100%", difficulty="easy"),
    make_task("files", "[draft]"),
    make_task("web", "login", level="L2", licences={"office": 1}),
)
REQUESTS: list[dict[str, Any]] = [
    {},
    {"tasks": ["calc/*"]},
    {"tasks": ["*/sum*", "files/rename"]},
    {"tasks": ["files/rename?"]},
    {"tasks": ["files/100%", "calc/sum_twice"]},
    {"tasks": ["files/[[]draft]"]},
    {"tasks": ["*/[pr]*"]},
    {"tasks": ["@small"]},
    {"tasks": ["@small", "web/*"]},
    {"where": ["difficulty=easy"]},
    {"where": ["difficulty=easy", "difficulty=hard", "domain=calc"]},
    {"where": ["level=unlabelled"], "tasks": ["files/*"]},
    {"variant": "context=none"},
    {"variant": "context=none", "tasks": ["files/*"]},
    {"purpose": "validate"},
    {"tasks": ["CALC/*"]},
    {"tasks": ["calc/sum", "calc/nothing"]},
    {"tasks": ["calc/su_"]},
    {"tasks": ["@nobody"]},
    {"where": ["difficulty=easy", "level=L2"]},
    {"where": ["level=L9"]},
    {"tasks": ["web/*"], "where": ["difficulty=easy"]},
    {"variant": "context=all"},
    {"variant": "context=none", "tasks": ["web/*"]},
]


@pytest.fixture(scope="module")
def installation_of_tasks(postgres_server: str) -> Iterator[World]:
    with databases.copied(postgres_server) as url, world(url) as new_world:
        variants = tuple(Variant(axis="context", value="none", task=task) for task in TASKS[:4])
        selections = {"small": ("calc/sum", "web/login")}
        new_world.benchmark(make_benchmark(*TASKS, variants=variants, selections=selections))
        new_world.worker()
        with new_world.work() as session:
            for row in tasks.all_of(session, latest_task_set(session, "starter").id)[2:4]:
                quarantine.quarantine_task(session, row.id, "flaky clock", new_world.who(session)[1])
        yield new_world


def each_task(made: World, request: RunRequest) -> tuple[list[str], Counter[tuple[str, Reason | None]]]:
    """Paths of what is wrong with the request, and how many tasks of each domain cannot run for which reason."""
    with made.work() as session:
        task_set = latest_task_set(session, request.benchmark)
        rows, named = tasks.all_of(session, task_set.id), benchmark_parts.selections(session, task_set.id)
        try:
            chosen = select_tasks(rows, request.tasks, named, request.where)
        except Invalid as error:
            return [error.path], Counter()
        wrong = list[str]()
        try:
            lacking = without_variant(session, task_set.id, request.variant, chosen)
        except Invalid as error:
            wrong, lacking = [error.path], {task.id for task in chosen}
        can = capabilities(session)
        config = resolved_config(can, request)
        why_not = reasons(session, can, config, chosen, purpose=request.purpose, lacking=lacking)
        return wrong, Counter((task.domain, why_not[task.id]) for task in chosen)


class TestForecast:
    @pytest.mark.parametrize("fields", REQUESTS, ids=str)
    @pytest.mark.parametrize("listed", [True, False])
    def test_counts_what_each_task_says(
        self, installation_of_tasks: World, fields: dict[str, Any], *, listed: bool
    ) -> None:
        request = RunRequest(benchmark="starter", agent="noop", **fields)
        wrong, numbers = each_task(installation_of_tasks, request)
        with installation_of_tasks.work() as session:
            expected = forecast(session, request, listed=listed)
        reason_numbers = Counter[Reason]()
        for (_, reason), number in numbers.items():
            if reason is not None:
                reason_numbers[reason] += number
        assert [problem.path for problem in expected.problems] == wrong
        assert expected.tasks == numbers.total() - reason_numbers.total()
        assert {Reason(each.reason_code, each.reason): each.tasks for each in expected.reasons} == reason_numbers
        assert len(expected.not_runnable) == (expected.blocked if listed else 0)


class TestSelectionOf:
    @pytest.mark.parametrize("fields", REQUESTS[:12], ids=str)
    def test_selects_the_same_tasks(self, installation_of_tasks: World, fields: dict[str, Any]) -> None:
        request = RunRequest(benchmark="starter", agent="noop", **fields)
        with installation_of_tasks.work() as session:
            task_set = latest_task_set(session, "starter")
            rows, named = tasks.all_of(session, task_set.id), benchmark_parts.selections(session, task_set.id)
            chosen = select_tasks(rows, request.tasks, named, request.where)
            keys = task_rows(session, task_set.id, selection_of(session, task_set.id, request))
        assert sorted(row.key for row in keys) == sorted(task.key for task in chosen)


class TestTaskGroups:
    def test_add_up_to_all_tasks(self, installation_of_tasks: World) -> None:
        with installation_of_tasks.work() as session:
            groups = task_groups(session, latest_task_set(session, "starter").id)
        assert sum(group.number for group in groups) == len(TASKS)
        assert {group.domain for group in groups} == {task.key.domain for task in TASKS}
        assert [(group.domain, group.number) for group in groups if group.quarantined] == [("calc", 1), ("files", 1)]
        assert [group.licences for group in groups if group.domain == "web"] == [{"office": 1}]
