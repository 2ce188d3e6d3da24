"""The published WindowsWorld itself: how many, what is repaired, and that all of it is understood."""

import json
from collections import Counter
from pathlib import Path

import pytest

from backend.domain.benchmarks import external_assets, findings
from backend.domain.benchmarks._labels import UNKNOWN_NEEDS
from backend.domain.machines.applications import missing
from backend.domain.model.task import LoadedBenchmark, PartKind
from tests.factories.suites import read
from worker.images.windows.catalog import programs_in_sets, read_catalog


@pytest.fixture(scope="module")
def loaded(shared_dir: Path) -> LoadedBenchmark:
    return read("windowsworld", shared_dir / "benchmarks" / "windowsworld")


class TestPublished:
    def test_figures(self, loaded: LoadedBenchmark) -> None:
        assert Counter(task.labels.level for task in loaded.tasks) == {"L1": 39, "L2": 80, "L3": 50, "L4": 12}
        assert sum(task.evaluator.infeasible for task in loaded.tasks) == 12
        assert len({task.labels.extra["persona_raw"] for task in loaded.tasks}) == 16
        assert len({task.key.domain for task in loaded.tasks}) == 15
        assert len({app for task in loaded.tasks for app in task.labels.extra["apps_raw"]}) == 22
        assert len({app for task in loaded.tasks for app in task.labels.apps}) == 18

    def test_what_each_task_needs_is_known(self, loaded: LoadedBenchmark) -> None:
        assert [str(task.key) for task in loaded.tasks if UNKNOWN_NEEDS in task.labels.extra] == []
        assert all(task.labels.requires for task in loaded.tasks)
        needed = Counter(command for task in loaded.tasks for command in task.labels.requires)
        assert {name: needed[name] for name in ("excel", "outlook", "acrobat", "powershell", "wt")} == {
            "excel": 73, "outlook": 72, "acrobat": 11, "powershell": 2, "wt": 9,
        }  # fmt: skip
        assert Counter(name for task in loaded.tasks for name in task.labels.licences) == {"Microsoft Office": 120}

    def test_a_windows_image_with_its_programs_has_all_of_it(self, loaded: LoadedBenchmark) -> None:
        there = {name for each in programs_in_sets(read_catalog(), ["windowsworld"]).all() for name in each.provides()}
        assert {name for task in loaded.tasks for name in missing(task.labels.requires, there)} == set()

    def test_checkpoints_are_the_listed_ones(self, loaded: LoadedBenchmark) -> None:
        listed = Counter(part.kind for task in loaded.tasks for part in task.evaluator.parts)
        assert listed[PartKind.CHECKPOINT] == 899 - 5  # Five belong to a task that cannot be done.
        assert sum(task.labels.extra["checkpoints"] for task in loaded.tasks) == 899

    def test_review_status(self, loaded: LoadedBenchmark) -> None:
        assert sum(not task.labels.extra["valid"] for task in loaded.tasks) == 21
        assert sum(task.labels.extra["review"] == "pending" for task in loaded.tasks) == 55

    def test_variants(self, loaded: LoadedBenchmark) -> None:
        assert Counter((one.axis, one.value) for one in loaded.variants) == {
            ("language", "cn"): 181, ("judge", "none"): 39,
        }  # fmt: skip

    def test_the_assertions_that_can_be_executed(self, loaded: LoadedBenchmark) -> None:
        parts = [part for task in loaded.tasks for part in task.evaluator.parts if part.kind is PartKind.ASSERTION]
        assert (len(parts), sum(part.weight > 0 for part in parts)) == (244, 107)
        assert sum("assertions" in line for line in loaded.warnings) == 110

    def test_the_environment(self, loaded: LoadedBenchmark) -> None:
        steps = Counter(step.type for task in loaded.tasks for step in task.setup)
        assert steps == {"generate_file": 130, "download": 16}
        assert len({url for task in loaded.tasks for url in external_assets(task)}) == 17
        assert list(loaded.assets) == ["mock/docs.python.org_3_library.html"]

    def test_nothing_is_wrong_or_unknown(self, loaded: LoadedBenchmark) -> None:
        tasks = [*loaded.tasks, *(variant.task for variant in loaded.variants)]
        wrong = {f"{task.key}: {one}" for task in tasks for one in findings(task, loaded.assets)}
        assert wrong == set()

    def test_nothing_of_the_file_is_changed(self, loaded: LoadedBenchmark, shared_dir: Path) -> None:
        entries = json.loads((shared_dir / "benchmarks" / "windowsworld" / "benchmark.json").read_text())
        assert [task.raw for task in loaded.tasks] == entries
