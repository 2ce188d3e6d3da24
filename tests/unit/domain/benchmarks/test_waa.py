"""WindowsAgentArena's reader on our own sample of its format; the published files are in `test_published`."""

import shutil
from pathlib import Path

import pytest

from backend.domain.benchmarks import strict
from backend.domain.model.task import Difficulty, DifficultySource, Task
from tests.factories.suites import SAMPLES, WAA_TASKS, WAA_WITHOUT, read


def sample(key: str) -> Task:
    return next(task for task in read("waa", SAMPLES / "waa").tasks if str(task.key) == key)


class TestTasks:
    def test_keys_are_folders_and_file_names(self) -> None:
        loaded = read("waa", SAMPLES / "waa")
        assert [str(task.key) for task in loaded.tasks] == [
            "notepad/sample-draft-WOS",
            "settings/sample-kind-WOS",
            "libreoffice_calc/sample-table-WOS",
            "vlc/INF-sample-smell-WOS",
            "vlc/INF-sample-taste-WOS",
        ]
        assert sample("vlc/INF-sample-smell-WOS").labels.extra["id"] == "INF-sample-taste-WOS"

    def test_duplicate_ids_are_warned_about(self) -> None:
        warnings = read("waa", SAMPLES / "waa").warnings
        assert any(line.endswith('sample-kind-WOS.json: key id: it is "sample-kind-wos", the file\'s name counts')
                   for line in warnings)  # fmt: skip
        same = "vlc/INF-sample-taste-WOS.json: key id: vlc/INF-sample-smell-WOS has the same id"
        assert any(line.startswith(same) for line in warnings)

    @pytest.mark.parametrize("part", ["waa/src", "waa/src/win-arena-container/client", WAA_TASKS.parent])
    def test_any_folder_above_gives_the_same(self, part: str | Path) -> None:
        assert read("waa", SAMPLES / part).content_hash() == read("waa", SAMPLES / "waa").content_hash()

    def test_infeasible_with_empty_results(self) -> None:
        task = sample("vlc/INF-sample-taste-WOS")
        assert task.evaluator.infeasible
        assert task.evaluator.calls[0].result is None


class TestLabels:
    def test_the_papers_mean_of_the_domain(self) -> None:
        labels = sample("libreoffice_calc/sample-table-WOS").labels
        assert (labels.difficulty, labels.difficulty_source) == (Difficulty.MEDIUM, DifficultySource.PAPER_DOMAIN)
        assert (labels.extra["rating"], labels.extra["group"]) == (2.0, "Office")
        assert sample("notepad/sample-draft-WOS").labels.difficulty is Difficulty.EASY

    def test_windows_and_one_spelling(self) -> None:
        labels = sample("libreoffice_calc/sample-table-WOS").labels
        assert (labels.os, labels.apps) == ("windows", ("libreoffice_calc",))


class TestVariants:
    def test_the_second_folder_is_the_same_tasks_without_context(self) -> None:
        loaded = read("waa", SAMPLES / "waa")
        assert {(variant.axis, variant.value) for variant in loaded.variants} == {("context", "none")}
        assert [variant.task.key for variant in loaded.variants] == [task.key for task in loaded.tasks]
        draft = loaded.variants[0].task
        assert (draft.setup, sample("notepad/sample-draft-WOS").setup != ()) == ((), True)

    def test_variant_folder_alone_is_labelled(self) -> None:
        loaded = read("waa", SAMPLES / WAA_WITHOUT)
        assert loaded.variants == ()
        assert {task.labels.extra["context"] for task in loaded.tasks} == {"none"}

    def test_the_tasks_alone_have_none(self) -> None:
        assert read("waa", SAMPLES / WAA_TASKS).variants == ()

    def test_a_variant_of_no_task_is_reported(self, tmp_path: Path) -> None:
        files = shutil.copytree(SAMPLES / "waa", tmp_path / "waa")
        without = files.joinpath(*WAA_WITHOUT.parts[1:]) / "notepad"
        shutil.copy(without / "sample-draft-WOS.json", without / "another-WOS.json")
        loaded = read("waa", files)
        assert len(loaded.variants) == 5
        assert any("another-WOS.json: there is no such task in examples" in line for line in loaded.warnings)


class TestSelections:
    def test_capitals_of_a_list_do_not_count(self) -> None:
        selections = read("waa", SAMPLES / "waa").selections
        assert selections["test_small"] == ("notepad/sample-draft-WOS", "settings/sample-kind-WOS")
        assert selections["test_custom"] == ("vlc/INF-sample-smell-WOS",)


class TestStrict:
    def test_every_task_and_variant_judges_as_published(self) -> None:
        loaded = read("waa", SAMPLES / "waa")
        old = strict(loaded)
        assert all(task.evaluator.strict_upstream for task in old.tasks)
        assert all(variant.task.evaluator.strict_upstream for variant in old.variants)
        assert old.content_hash() != loaded.content_hash()
