import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import Invalid
from tests.error_codes import raises_code
from tests.factories.suites import SAMPLES, read


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLES / "omnibench", tmp_path / "pool"))


def change(file: Path, **more: Any) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | more))


class TestLoad:
    def test_reads_the_published_layout(self, folder: Path) -> None:
        result = read("omnibench", folder)
        first, second = result.tasks
        assert (str(first.key), str(second.key)) == ("correspondence/1", "office/2")
        assert [(part.name, part.after) for part in first.evaluator.parts] == [
            ("copy-table", ()),
            ("paste-table", ("copy-table",)),
            ("spell-check", ("paste-table",)),
            ("mail-report", ("paste-table",)),
        ]
        assert first.evaluator.parts[0].calls[0].options["values"] == {"xlsx_path": "C:\\Users\\user\\sales.xlsx"}
        assert first.labels.os == "windows"
        assert [(one.axis, one.value) for one in result.variants] == [("intent", "given")]
        assert (result.licence, result.suite, result.warnings) == ("Apache-2.0", "omnibench", ())

    def test_tasks_may_lie_beside_the_pool_or_in_one_file(self, folder: Path) -> None:
        wanted = {task.key.name: task for task in read("omnibench", folder).tasks}
        for file in (folder / "tasks").iterdir():
            shutil.move(file, folder / file.name)
        (folder / "tasks").rmdir()
        assert {task.key.name: task for task in read("omnibench", folder).tasks} == wanted
        lines = [json.dumps({"task_id": name, **task.raw}) for name, task in wanted.items()]
        (folder / "tasks.jsonl").write_text("\n".join(lines))
        for name in wanted:
            (folder / f"{name}.json").unlink()
        result = read("omnibench", folder)
        assert {task.key.name: task.evaluator for task in result.tasks} == {
            name: task.evaluator for name, task in wanted.items()
        }
        assert not result.suite

    def test_oddities_are_reported(self, folder: Path) -> None:
        subtasks = json.loads((folder / "subtasks.json").read_text())
        subtasks[0] |= {"notes": "x", "application": "Abacus"}
        (folder / "subtasks.json").write_text(json.dumps(subtasks))
        assert read("omnibench", folder).warnings == (
            "subtasks.json: key 0.notes is not understood and was left out",
            "subtasks.json: nobody has said in which category 'Abacus' belongs; it counts as one by itself",
            "subtasks.json: what 'Abacus' needs on a desktop is unknown; name its commands in `requires`",
        )

    @pytest.mark.parametrize(
        ("wrong", "words"),
        [
            ({"id": "a/b"}, "key 0.id"),
            ({"id": "paste-table"}, "paste-table occurs twice"),
            ({"OS": "BeOS"}, "key 0.OS"),
            ({"available_parameters": [{}]}, r"key 0.available_parameters.0: it lacks 'xlsx_path'"),
            ({"evaluation": "rm -rf"}, "1: key subtask copy-table: evaluation"),
        ],
    )
    def test_a_broken_subtask_is_named(self, folder: Path, wrong: dict[str, Any], words: str) -> None:
        subtasks = json.loads((folder / "subtasks.json").read_text())
        subtasks[0] |= wrong
        (folder / "subtasks.json").write_text(json.dumps(subtasks))
        with raises_code(Invalid, "invalid_task_file", mentions=words):
            read("omnibench", folder)

    def test_a_broken_task_is_named(self, folder: Path) -> None:
        change(folder / "tasks" / "2.json", dag={"nodes": ["sing"]})
        with raises_code(Invalid, "invalid_task_file", mentions=("sing", "2", "dag.nodes")):
            read("omnibench", folder)

    def test_a_function_that_is_missing_is_named(self, folder: Path) -> None:
        (folder / "eval_functions" / "spell-check.txt").unlink()
        with raises_code(Invalid, "invalid_task_file"):
            read("omnibench", folder)

    def test_a_folder_without_tasks_is_refused(self, folder: Path) -> None:
        shutil.rmtree(folder / "tasks")
        with raises_code(Invalid, "invalid_task_file", path="pool"):
            read("omnibench", folder)
