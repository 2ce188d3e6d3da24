"""Our pool of OmniBench's subtasks and the tasks composed of it, on real desktops.

Composed solutions reach every node, doing nothing reaches none, and a solution that stops half-way exactly the nodes
that it has passed. `make test` runs one task of each of a sample of the capabilities, `make test-all` all tasks,
and every subtask by itself.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from backend.domain.benchmarks import lint, read_pool
from backend.domain.model.task import Task
from backend.domain.omnibench.build import build
from backend.domain.omnibench.complexity import CAPABILITIES
from backend.domain.omnibench.graph import GraphNode, TaskGraph
from backend.domain.omnibench.subtask import fill_values
from backend.domain.omnibench.task_file import GraphTask, read_task
from backend.domain.statistics.coherence import best_order
from backend.starter import ROOT
from tests.conftest import ROOT as CHECKOUT
from tests.integration.starter.harness import Bench, Result, in_form
from tests.sampling import runs_everything, sample

FOLDER = ROOT / "omnibench"
LOADED = in_form("omnibench")
POOL = read_pool(FOLDER, [])
HEAVY = {"localc", "lowriter", "chromium"}
"""Programs that only APPS=full installs."""
AMONG = 3
"""A sampled task is one of so many with the shortest solutions of its capability."""
CAPABLE = 4
"""Of ten capabilities; an episode of a composed task takes ten seconds and more."""
ALONE = [
    GraphTask(
        name=one.id,
        instruction=one.instruction(one.available_parameters[0]),
        graph=TaskGraph(
            nodes=(GraphNode(name=one.id, subtask=one.id, values=one.available_parameters[0]),), after={one.id: ()}
        ),
    )
    for one in POOL.values()
]
"""Each subtask as a task by itself."""


def serving(letters: str) -> Task:
    """One of the tasks with the shortest solutions of a capability."""
    tasks = [task for task in LOADED.tasks if task.key.name.startswith(f"{letters.lower()}-")]
    short = sorted(tasks, key=lambda task: len(task.oracle or ()))[:AMONG]
    return sample(short, 1)[0]


def sampled() -> list[Task]:
    """One task of each of some capabilities; all tasks under `make test-all`."""
    if runs_everything():
        return list(LOADED.tasks)
    return [serving(letters) for letters in sample(list(CAPABILITIES), CAPABLE)]


def solved_in(task: Task) -> tuple[str, ...]:
    """The order in which the task's solution does its nodes."""
    parts = task.evaluator.parts
    order = best_order({part.name: part.after for part in parts}, {part.name: part.app for part in parts})
    assert order is not None
    return order


def half_way(task: Task, nodes: int) -> Task:
    """The task with a solution that stops after this number of nodes."""
    graph = read_task(task.raw, task.key.name, POOL).graph
    recipe = [
        step
        for name in solved_in(task)[:nodes]
        for step in fill_values(POOL[graph.node(name).subtask].oracle, graph.node(name).values)
    ]
    return task.model_copy(update={"oracle": tuple(recipe)})


def depth(name: str, after: Mapping[str, Sequence[str]]) -> int:
    """Of a source 1, else 1 + the largest before it."""
    return 1 + max((depth(one, after) for one in after[name]), default=0)


def same_app(order: Sequence[str], apps: Mapping[str, str]) -> int:
    """Adjacent pairs of the same application."""
    return sum(apps[one] == apps[other] for one, other in pairwise(order))


class TestThePool:
    def test_thirty_subtasks_and_six_applications_need_the_base_packages_only(self) -> None:
        light = [one for one in POOL.values() if not HEAVY & set(one.requires)]
        assert len(light) >= 30
        assert len({one.application for one in light}) >= 6

    def test_every_subtask_has_words_a_solution_and_an_evaluation(self) -> None:
        for one in POOL.values():
            assert one.oracle, one.id
            assert one.evaluation, one.id
            assert one.steps, one.id
            assert one.intents, one.id

    def test_two_hundred_tasks_over_all_ten_capabilities(self) -> None:
        """Each task is in the set of the capability that it was composed for, and hard where that is."""
        assert len(LOADED.tasks) == 200
        assert {letters: len(keys) for letters, keys in LOADED.selections.items()} == dict.fromkeys(CAPABILITIES, 20)
        for task in LOADED.tasks:
            labels = task.labels.extra
            assert task.key.name.startswith(f"{labels['capability'].lower()}-")
            assert labels["capability"] in labels["capabilities"]

    def test_every_task_runs_with_the_base_packages(self) -> None:
        assert {command for task in LOADED.tasks for command in task.labels.requires} & HEAVY == set()

    def test_no_two_tasks_are_the_same(self) -> None:
        graphs = [read_task(task.raw, task.key.name, POOL).graph.canonical() for task in LOADED.tasks]
        assert len(set(graphs)) == len(graphs)

    def test_tasks_have_no_lint_errors(self) -> None:
        assert [found for task in LOADED.tasks for found in lint(task, LOADED.assets)] == []
        assert LOADED.warnings == ()

    def test_the_page_names_every_subtask(self) -> None:
        page = (CHECKOUT / "docs" / "benchmarks" / "omnibench.md").read_text()
        assert [name for name in POOL if f"`{name}`" not in page] == []


@pytest.mark.desktop
@pytest.mark.timeout(900)
@pytest.mark.sampled(2)
class TestEpisodes:
    @pytest.mark.parametrize("task", sampled(), ids=lambda task: str(task.key))
    def test_composed_solutions_reach_every_node(self, bench: Bench, task: Task, folder: Path) -> None:
        found = run(bench, task, "oracle", folder)
        assert found.evaluation.score == 1.0, found.story()
        assert found.evaluation.measures["CR"] == 1.0
        assert found.evaluation.measures.get("LC", 1.0) == 1.0

    @pytest.mark.parametrize("task", sample(LOADED.tasks, 1), ids=lambda task: str(task.key))
    def test_doing_nothing_reaches_none(self, bench: Bench, task: Task, folder: Path) -> None:
        found = run(bench, task, "noop", folder)
        assert (found.evaluation.score, found.evaluation.measures["CR"]) == (0.0, 0.0), found.story()

    @pytest.mark.parametrize("task", [serving("LRP")], ids=lambda task: str(task.key))
    def test_half_a_solution_reaches_exactly_its_nodes(self, bench: Bench, task: Task, folder: Path) -> None:
        order = solved_in(task)
        done = order[: len(order) // 2]
        found = run(bench, half_way(task, len(done)), "oracle", folder).evaluation
        apps = {part.name: part.app for part in task.evaluator.parts}
        after = {part.name: part.after for part in task.evaluator.parts}
        weights = {name: depth(name, after) for name in after}
        expected = {"CR": sum(weights[name] for name in done) / sum(weights.values()), "score": 0.0}
        if same_app(order, apps):
            expected["LC"] = same_app(done, apps) / same_app(order, apps)
        assert {part.name for part in found.parts if part.reached} == set(done)
        assert dict(found.measures) == pytest.approx(expected)

    @pytest.mark.parametrize("alone", ALONE if runs_everything() else ALONE[:1], ids=lambda alone: alone.name)
    def test_each_subtask_by_itself(self, bench: Bench, alone: GraphTask, folder: Path) -> None:
        found = run(bench, build(alone, POOL, {}), "oracle", folder)
        assert found.evaluation.score == 1.0, found.story()


def run(bench: Bench, task: Task, agent: str, folder: Path) -> Result:
    missing = bench.missing(task)
    if missing:
        pytest.skip(f"needs {', '.join(missing)}: `make setup APPS=full` installs it")
    return bench.run(task, agent, folder, loaded=LOADED)
