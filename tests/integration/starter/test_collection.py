"""The starter benchmark as a whole. Needs no desktop."""

from collections import Counter
from pathlib import Path

import pytest

from backend.domain.benchmarks import lint
from backend.domain.model.task import DifficultySource, Task
from tests.conftest import ROOT
from tests.integration.starter.harness import starter

HEAVY = {"localc", "lowriter", "chromium"}
"""Programs that only APPS=full installs."""
TASKS = starter().tasks
LIGHT = [task for task in TASKS if not HEAVY & set(task.labels.requires)]


def is_fractional(task: Task) -> bool:
    """Whether a part of the work is worth a part of the score."""
    specs = [call.expected or {} for call in task.evaluator.calls]
    return any(isinstance(spec.get("rules"), dict) and spec["rules"].get("partial") for spec in specs)


def words_of(name: str) -> set[str]:
    """Package names of a list in scripts/."""
    lines = (ROOT / "tools" / name).read_text().splitlines()
    return {line.strip() for line in lines if line.strip() and not line.startswith("#")}


class TestCollection:
    def test_enough_tasks_without_the_heavy_applications(self) -> None:
        assert len(LIGHT) >= 24
        assert {task.key.domain for task in LIGHT} >= {
            "files",
            "editor",
            "terminal",
            "settings",
            "calculator",
            "images",
        }

    def test_the_heavy_applications_have_their_domains(self) -> None:
        assert {task.key.domain for task in TASKS} >= {"spreadsheet", "document", "browser"}

    def test_enough_tasks_with_windows_programs(self) -> None:
        windows = [task for task in TASKS if task.labels.os == "windows"]
        assert len(windows) >= 10
        assert {task.labels.difficulty for task in windows} == {"easy", "medium", "hard"}
        programs = {program for task in windows for program in task.labels.requires}
        assert programs == {"cmd", "control", "explorer", "notepad", "regedit", "wordpad"}

    def test_all_difficulties_by_their_author(self) -> None:
        counts = Counter(task.labels.difficulty for task in LIGHT)
        assert min(counts[level] for level in ("easy", "medium", "hard")) >= 4  # type: ignore[index]
        assert {task.labels.difficulty_source for task in TASKS} == {DifficultySource.AUTHOR}

    def test_some_scores_are_fractional(self) -> None:
        assert sum(map(is_fractional, LIGHT)) >= 4

    def test_some_tasks_are_infeasible_in_several_domains(self) -> None:
        infeasible = [task for task in LIGHT if not task.labels.feasible]
        assert len(infeasible) >= 3
        assert len({task.key.domain for task in infeasible}) >= 3

    def test_every_program_comes_with_a_package(self) -> None:
        """The lists in scripts/ install what the tasks require; programs of other packages are named here."""
        part_of = {
            **dict.fromkeys(("cmd", "control", "explorer", "notepad", "regedit", "wordpad"), "wine"),
            "localc": "libreoffice-calc",
            "lowriter": "libreoffice-writer",
            "gsettings": "libglib2.0-bin",
            "xfconf-query": "xfconf",
            **{f"xfce4-{name}-settings": "xfce4-settings" for name in ("keyboard", "mouse", "appearance")},
        }
        wanted = {part_of.get(program, program) for task in TASKS for program in task.labels.requires}
        listed = [words_of(f"packages-{name}.txt") for name in ("base", "wine", "full")]
        assert wanted - set().union(*listed) == set()

    def test_loads_without_warnings(self) -> None:
        assert starter().warnings == ()

    def test_every_asset_is_used(self) -> None:
        used = "".join(task.model_dump_json() for task in TASKS)
        assert [name for name in starter().assets if f"asset:{name}" not in used] == []

    def test_the_page_names_every_task(self) -> None:
        page = Path(ROOT / "docs" / "benchmarks" / "starter.md").read_text()
        assert [str(task.key) for task in TASKS if f"`{task.key}`" not in page] == []


@pytest.mark.parametrize("task", TASKS, ids=lambda task: str(task.key))
class TestEachTask:
    def test_task_has_no_lint_errors(self, task: Task) -> None:
        assert lint(task, starter().assets) == []

    def test_solution_ends_with_fail_only_if_infeasible(self, task: Task) -> None:
        assert task.oracle
        assert ("fail" in task.oracle[-1]) == (not task.labels.feasible)

    def test_task_declares_requirements(self, task: Task) -> None:
        assert task.labels.requires
        assert task.labels.apps
        assert task.max_steps

    def test_instruction_does_not_reveal_the_evaluator(self, task: Task) -> None:
        assert not {"xfconf", "gsettings", "evaluator", "infeasible"} & set(task.instruction.lower().split())
        assert task.instruction.endswith(".")
