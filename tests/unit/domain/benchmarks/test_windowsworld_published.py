"""The published WindowsWorld itself: how many, what is repaired, and that all of it is understood."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from backend.domain.benchmarks import external_assets, findings, strict
from backend.domain.benchmarks._labels import UNKNOWN_NEEDS
from backend.domain.benchmarks._windowsworld_english import chinese_only, correspondences, criteria, english
from backend.domain.benchmarks._windowsworld_format import WindowsWorldTask
from backend.domain.machines.applications import missing
from backend.domain.model.task import LoadedBenchmark, PartKind
from tests.factories.suites import read
from worker.images.windows.catalog import programs_in_sets, read_catalog


@pytest.fixture(scope="module")
def loaded(shared_dir: Path) -> LoadedBenchmark:
    return read("windowsworld", shared_dir / "benchmarks" / "windowsworld")


@pytest.fixture(scope="module")
def entries(shared_dir: Path) -> dict[str, WindowsWorldTask]:
    file = shared_dir / "benchmarks" / "windowsworld" / "benchmark.json"
    return {raw["task_id"]: WindowsWorldTask.model_validate(raw) for raw in json.loads(file.read_text())}


class TestPublished:
    def test_published_counts_are_imported(self, loaded: LoadedBenchmark) -> None:
        assert Counter(task.labels.level for task in loaded.tasks) == {"L1": 39, "L2": 80, "L3": 50, "L4": 12}
        assert sum(task.evaluator.infeasible for task in loaded.tasks) == 12
        assert len({task.labels.extra["persona_raw"] for task in loaded.tasks}) == 16
        assert len({task.key.domain for task in loaded.tasks}) == 15
        assert len({app for task in loaded.tasks for app in task.labels.extra["apps_raw"]}) == 22
        assert len({app for task in loaded.tasks for app in task.labels.apps}) == 18

    def test_requirements_of_each_task_are_known(self, loaded: LoadedBenchmark) -> None:
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

    def test_review_status_is_counted(self, loaded: LoadedBenchmark) -> None:
        assert sum(not task.labels.extra["valid"] for task in loaded.tasks) == 21
        assert sum(task.labels.extra["review"] == "pending" for task in loaded.tasks) == 55

    def test_variants_are_counted(self, loaded: LoadedBenchmark) -> None:
        assert Counter((one.axis, one.value) for one in loaded.variants) == {
            ("language", "cn"): 181, ("criteria", "released"): 169, ("judge", "none"): 39,
        }  # fmt: skip

    def test_the_assertions_that_can_be_executed(self, loaded: LoadedBenchmark) -> None:
        parts = [part for task in loaded.tasks for part in task.evaluator.parts if part.kind is PartKind.ASSERTION]
        assert (len(parts), sum(part.weight > 0 for part in parts)) == (244, 107)
        assert sum("assertions" in line for line in loaded.warnings) == 110

    def test_generated_and_downloaded_files_are_counted(self, loaded: LoadedBenchmark) -> None:
        steps = Counter(step.type for task in loaded.tasks for step in task.setup)
        assert steps == {"generate_file": 130, "download": 16}
        assert len({url for task in loaded.tasks for url in external_assets(task)}) == 17
        assert list(loaded.assets) == ["mock/docs.python.org_3_library.html"]

    def test_published_tasks_have_no_errors(self, loaded: LoadedBenchmark) -> None:
        tasks = [*loaded.tasks, *(variant.task for variant in loaded.variants)]
        wrong = {f"{task.key}: {one}" for task in tasks for one in findings(task, loaded.assets)}
        assert wrong == set()

    def test_raw_file_is_unchanged(self, loaded: LoadedBenchmark, shared_dir: Path) -> None:
        entries = json.loads((shared_dir / "benchmarks" / "windowsworld" / "benchmark.json").read_text())
        assert [task.raw for task in loaded.tasks] == entries


class TestEnglishCriteria:
    """Criteria were written for the Chinese instructions; ours fit the English ones."""

    def judged(self, entry: WindowsWorldTask) -> list[str]:
        return [text for name, text in criteria(entry.evaluation_metrics).items() if not name.startswith("a")]

    def test_fifty_four_tasks_quote_chinese_words_that_the_english_instruction_has_not(
        self, entries: dict[str, WindowsWorldTask]
    ) -> None:
        feasible = [entry for entry in entries.values() if entry.task_category != "L4"]
        quoting = {
            entry.task_id
            for entry in feasible
            for text in self.judged(entry)
            if any(re.search("[\u4e00-\u9fff]", words) for words in chinese_only(entry, text))
        }
        assert (len(feasible), len(quoting)) == (169, 54)
        assert quoting <= set(correspondences())

    def test_each_row_is_about_words_that_are_there(self, entries: dict[str, WindowsWorldTask]) -> None:
        for task, rows in correspondences().items():
            texts = criteria(entries[task].evaluation_metrics)
            assert [row for row in rows if row.published not in texts[row.criterion]] == []

    def test_each_row_is_from_where_it_says(self, entries: dict[str, WindowsWorldTask]) -> None:
        for task, rows in correspondences().items():
            setup = entries[task].environment_setup.model_dump_json()
            assert [
                row for row in rows if row.source == "instruction" and row.english not in entries[task].instruction
            ] == []
            for row in rows:
                assert row.source != "set-up" or row.published in setup or row.english in setup, row

    def test_remaining_chinese_words_are_in_the_set_up(self, entries: dict[str, WindowsWorldTask]) -> None:
        for task, rows in correspondences().items():
            kept = [row.published for row in rows if row.source == "set-up"]
            for text in self.judged(english(entries[task])):
                left = [words for words in chinese_only(entries[task], text) if words not in kept]
                assert [words for words in left if not any(one in words for one in kept)] == [], task

    def test_a_worked_example(self, loaded: LoadedBenchmark) -> None:
        task = next(task for task in loaded.tasks if task.key.name == "win_hr__l1_002")
        published = task.labels.extra["published_criteria"]["c3"]
        assert "面试邀请 - 张三" in published
        assert task.evaluator.parts[2].text == published.replace(
            "面试邀请 - 张三", "Interview Invitation - [Candidate Name]"
        )
        variants = {one.axis: one.task.evaluator for one in loaded.variants if one.task.key == task.key}
        assert variants["language"].parts[2].text == variants["criteria"].parts[2].text == published

    def test_all_of_them_can_be_run_in_english(self, loaded: LoadedBenchmark) -> None:
        assert len(loaded.selections["english"]) == 181

    def test_strict_judges_by_what_the_released_code_asks(
        self, loaded: LoadedBenchmark, entries: dict[str, WindowsWorldTask]
    ) -> None:
        """The published checkpoints, and `success_criterion` for the end state."""
        for task in strict(loaded).tasks:
            metrics = entries[task.key.name].evaluation_metrics
            if not task.evaluator.infeasible and "C:\\" not in metrics.model_dump_json():
                assert task.evaluator.text == metrics.success_criterion
                checkpoints = [part.text for part in task.evaluator.parts if part.kind is PartKind.CHECKPOINT]
                assert checkpoints == metrics.intermediate_checks
