"""The published suites themselves: how many, nothing renamed or dropped, and what they need is understood."""

import json
from collections import Counter
from pathlib import Path

import pytest

from backend.domain.benchmarks import external_assets, findings
from backend.domain.benchmarks._labels import UNKNOWN_NEEDS
from backend.domain.machines.applications import needs_of
from backend.domain.model.task import LoadedBenchmark, Task
from tests.factories.suites import OSWORLD_TASKS, OSWORLD_WINDOWS, WAA_TASKS, WAA_WITHOUT, read

COUNTS = {
    "waa": (Path("waa"), WAA_TASKS, 154, 13, 154),
    "osworld": (Path("osworld"), OSWORLD_TASKS, 369, 29, 0),
    "osworld-windows": (OSWORLD_WINDOWS, OSWORLD_WINDOWS, 49, 1, 0),
}
"""Folder to import, folder of the tasks, tasks, infeasible ones, variants."""
GROUPS = {
    "waa": {"Office": 43, "Web": 30, "Windows System": 24, "Coding": 24, "Media": 21, "Windows Utilities": 12},
    "osworld": {"OS": 24, "Office": 117, "Daily": 78, "Professional": 49, "Workflow": 101},
    "osworld-windows": {"Office": 27, "Workflow": 22},
}
LICENCES = {"waa": {}, "osworld": {}, "osworld-windows": {"Microsoft Office": 42}}
RUN_BY_SET_UP = {
    "waa": {},
    "osworld": {"nautilus": 11, "soffice": 2, "chrome": 1, "code": 1},
    "osworld-windows": {"7z": 4, "excel": 1, "winword": 1},
}
"""Needs of tasks beyond the applications that they name."""
ASSETS = {"waa": 123, "osworld": 661, "osworld-windows": 130}


@pytest.fixture(scope="module", params=list(COUNTS))
def suite(request: pytest.FixtureRequest) -> str:
    """One suite after the other."""
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def loaded(suite: str, shared_dir: Path) -> LoadedBenchmark:
    """The suite, read."""
    return read("waa" if suite == "waa" else "osworld", shared_dir / "benchmarks" / COUNTS[suite][0])


def task_of(loaded: LoadedBenchmark, key: str) -> Task:
    return next(task for task in loaded.tasks if str(task.key) == key)


class TestPublished:
    def test_published_counts_are_imported(self, suite: str, loaded: LoadedBenchmark) -> None:
        _, _, tasks, infeasible, variants = COUNTS[suite]
        assert len(loaded.tasks) == tasks
        assert sum(task.evaluator.infeasible for task in loaded.tasks) == infeasible
        assert sum(not task.labels.feasible for task in loaded.tasks) == infeasible
        assert len(loaded.variants) == variants

    def test_published_tasks_are_unchanged(self, suite: str, loaded: LoadedBenchmark, shared_dir: Path) -> None:
        folder = shared_dir / "benchmarks" / COUNTS[suite][1]
        assert {str(task.key) for task in loaded.tasks} == {
            file.relative_to(folder).with_suffix("").as_posix() for file in folder.glob("*/*.json")
        }
        for task in loaded.tasks:
            assert task.raw == json.loads((folder / f"{task.key}.json").read_text())
        for variant in loaded.variants:
            file = shared_dir / "benchmarks" / WAA_WITHOUT / f"{variant.task.key}.json"
            assert variant.task.raw == json.loads(file.read_text())

    def test_requirements_of_each_task_are_known(self, suite: str, loaded: LoadedBenchmark) -> None:
        assert [str(task.key) for task in loaded.tasks if UNKNOWN_NEEDS in task.labels.extra] == []
        without = {str(task.key) for task in loaded.tasks if not task.labels.requires}
        beyond = {key for key in without if set(task_of(loaded, key).labels.apps) - {"os", "image", "pdf", "picard"}}
        assert beyond == set()
        assert Counter(name for task in loaded.tasks for name in task.labels.licences) == LICENCES[suite]

    def test_programs_that_set_up_runs_are_needs(self, suite: str, loaded: LoadedBenchmark) -> None:
        by_app = {task.key: needs_of(task.labels.apps, task.labels.os).commands for task in loaded.tasks}
        more = Counter(name for task in loaded.tasks for name in set(task.labels.requires) - set(by_app[task.key]))
        assert more == RUN_BY_SET_UP[suite]

    def test_the_papers_groups(self, suite: str, loaded: LoadedBenchmark) -> None:
        assert Counter(task.labels.extra["group"] for task in loaded.tasks) == GROUPS[suite]

    def test_every_file_of_the_web(self, suite: str, loaded: LoadedBenchmark) -> None:
        assert len({url for task in loaded.tasks for url in external_assets(task)}) == ASSETS[suite]

    def test_published_tasks_have_no_errors(self, loaded: LoadedBenchmark) -> None:
        tasks = [*loaded.tasks, *(variant.task for variant in loaded.variants)]
        wrong = {
            f"{task.key}: {finding}" for task in tasks for finding in findings(task) if finding.severity == "error"
        }
        assert wrong == set()

    def test_twins_are_there(self, suite: str, loaded: LoadedBenchmark, shared_dir: Path) -> None:
        twins = [task.labels.extra["twin"] for task in loaded.tasks if "twin" in task.labels.extra]
        assert len(twins) == (49 if suite == "osworld-windows" else 0)
        assert all((shared_dir / "benchmarks" / OSWORLD_TASKS / f"{twin}.json").exists() for twin in twins)


class TestWarnings:
    def test_osworlds_own_slips(self, shared_dir: Path) -> None:
        tasks = read("osworld", shared_dir / "benchmarks" / "osworld")
        result = [str(finding) for task in tasks.tasks for finding in findings(task)]
        assert sum("a slip for 'type'" in line for line in result) == 4
        assert sum("ignore_case: upstream ignores it" in line for line in result) == 3
        assert sum("._note: a remark" in line for line in result) == 2
        assert any("chrome/480bcfea-d68f-4aaa-a0a9-2589ef319381" in line for line in tasks.warnings)

    def test_waas_id_traps(self, shared_dir: Path) -> None:
        warnings = read("waa", shared_dir / "benchmarks" / "waa").warnings
        assert sum("the file's name counts" in line for line in warnings) == 6
        assert sum("has the same id" in line for line in warnings) == 2

    def test_every_list_is_a_selection(self, shared_dir: Path) -> None:
        osworld = read("osworld", shared_dir / "benchmarks" / "osworld").selections
        waa = read("waa", shared_dir / "benchmarks" / "waa").selections
        assert {name: len(keys) for name, keys in osworld.items()} == {
            "test_infeasible": 28, "test_nogdrive": 361, "test_small": 39,
        }  # fmt: skip
        assert {name: len(keys) for name, keys in waa.items()} == {"test_custom": 1, "test_small": 6}
