"""OSWorld's reader on our own sample of its format; the published files are in `test_published`."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from backend.domain.benchmarks import external_assets, findings
from backend.domain.errors import Invalid
from backend.domain.model.task import LoadedBenchmark, Task
from tests.error_codes import raises_code
from tests.factories.suites import OSWORLD_TASKS, OSWORLD_WINDOWS, SAMPLES, read


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A copy of the sample that a test may change."""
    return shutil.copytree(SAMPLES / "osworld", tmp_path / "osworld")


def one(loaded: LoadedBenchmark, key: str) -> Task:
    return next(task for task in loaded.tasks if str(task.key) == key)


def sample(key: str) -> Task:
    return one(read("osworld", SAMPLES / "osworld"), key)


def change(root: Path, file: str, **more: Any) -> None:
    path = root / file
    path.write_text(json.dumps({**json.loads(path.read_text()), **more}))


class TestTasks:
    def test_the_list_says_which_belong(self) -> None:
        loaded = read("osworld", SAMPLES / "osworld")
        assert [str(task.key) for task in loaded.tasks] == [
            "chrome/sample-colour",
            "gimp/sample-theme",
            "libreoffice_calc/sample-takings",
            "libreoffice_calc/sample-either",
            "multi_apps/sample-both",
            "os/sample-infeasible",
            "os/sample-quiet",
        ]
        assert "multi_apps/sample-left-out.json: it is not in test_all.json and was left out" in loaded.warnings
        assert (loaded.kind, loaded.suite, loaded.licence) == ("osworld", "osworld", "Apache-2.0")

    def test_without_a_list_all_belong(self) -> None:
        assert len(read("osworld", SAMPLES / OSWORLD_TASKS).tasks) == 8

    @pytest.mark.parametrize("part", ["osworld", "osworld/evaluation_examples"])
    def test_any_folder_above_gives_the_same(self, part: str) -> None:
        assert read("osworld", SAMPLES / part).content_hash() == read("osworld", SAMPLES / "osworld").content_hash()

    def test_reads_a_single_domain(self) -> None:
        loaded = read("osworld", SAMPLES / OSWORLD_TASKS / "os")
        assert [str(task.key) for task in loaded.tasks] == ["os/sample-infeasible", "os/sample-quiet"]

    def test_raw_file_is_stored_unchanged(self) -> None:
        for task in read("osworld", SAMPLES / "osworld").tasks:
            assert task.raw == json.loads((SAMPLES / OSWORLD_TASKS / f"{task.key}.json").read_text())

    def test_a_changed_file_is_another_task_set(self, files: Path) -> None:
        before = read("osworld", files).content_hash()
        change(files, "evaluation_examples/examples/os/sample-quiet.json", instruction="Something else.")
        assert read("osworld", files).content_hash() != before

    def test_a_changed_list_is_another_task_set(self, files: Path) -> None:
        before = read("osworld", files).content_hash()
        (files / "evaluation_examples" / "test_small.json").unlink()
        assert read("osworld", files).content_hash() != before

    def test_reads_a_fork_with_another_folder_name(self, files: Path) -> None:
        examples = files / "evaluation_examples"
        (examples / "examples").rename(examples / "my_tasks")
        assert len(read("osworld", files).tasks) == 7

    def test_two_folders_of_tasks_are_a_question(self, files: Path) -> None:
        shutil.copytree(files / "evaluation_examples", files / "more")
        with raises_code(Invalid, "invalid_task_file", mentions=("evaluation_examples/examples", "more/examples")):
            read("osworld", files)

    def test_a_listed_task_that_is_not_there(self, files: Path) -> None:
        (files / "evaluation_examples/examples/os/sample-quiet.json").unlink()
        with raises_code(Invalid, "invalid_task_file", mentions="test_all.json"):
            read("osworld", files)


class TestEvaluator:
    def test_lists_of_metrics_without_their_remarks(self) -> None:
        evaluator = sample("libreoffice_calc/sample-either").evaluator
        assert (evaluator.conj, [call.options for call in evaluator.calls]) == ("or", [{"ignore_blanks": True}, {}])

    def test_a_slip_in_a_rule_is_put_right(self) -> None:
        expected = sample("gimp/sample-theme").evaluator.calls[0].expected
        assert expected == {"type": "rule", "rules": {"type": "key-value", "key": "theme", "value": '"Light"'}}

    def test_infeasible_task_is_recognised(self) -> None:
        task = sample("os/sample-infeasible")
        assert (task.evaluator.infeasible, task.labels.feasible) == (True, False)

    def test_no_set_up(self) -> None:
        assert sample("os/sample-quiet").setup == ()


class TestLabels:
    def test_applications_in_one_spelling_with_their_programs(self) -> None:
        labels = sample("libreoffice_calc/sample-either").labels
        assert labels.apps == ("libreoffice_calc", "libreoffice_writer")
        assert labels.requires == ("soffice",)

    def test_programs_of_a_long_command_are_those_of_its_beginning(self, files: Path) -> None:
        file = "evaluation_examples/examples/os/sample-quiet.json"
        step = {
            "type": "execute",
            "parameters": {"command": "gimp a.xcf && vlc b.mp4 " + "audacity " * 100_000 + "; audacity"},
        }
        change(files, file, config=[step], related_apps=["os"])
        assert set(one(read("osworld", files), "os/sample-quiet").labels.requires) == {"gimp", "vlc"}

    def test_labels_from_upstream_files_outside_the_task(self) -> None:
        extra = sample("multi_apps/sample-both").labels.extra
        assert extra["group"] == "Workflow"
        assert extra["drift"] == "high"
        assert extra["network"] == ["assets", "account"]
        assert extra["source"] == ["one place", "another place"]
        assert extra["id"] == "sample-both"

    def test_proxy_fixed_address_and_live_pages(self) -> None:
        chrome, quiet = sample("chrome/sample-colour").labels.extra, sample("os/sample-quiet").labels.extra
        assert (chrome["proxy"], chrome["network"], chrome["drift"]) == (True, ["web"], "medium")
        assert (quiet["fixed_ip"], "proxy" in quiet, "network" in quiet) == (True, False, False)

    def test_tasks_have_no_difficulty(self) -> None:
        assert {task.labels.difficulty for task in read("osworld", SAMPLES / "osworld").tasks} == {None}

    def test_tasks_have_the_system_linux(self) -> None:
        assert {task.labels.os for task in read("osworld", SAMPLES / "osworld").tasks} == {"linux"}


class TestSelections:
    def test_every_list_but_the_whole(self) -> None:
        selections = read("osworld", SAMPLES / "osworld").selections
        assert sorted(selections) == ["test_nogdrive", "test_small"]
        assert selections["test_small"] == ("chrome/sample-colour", "os/sample-quiet")

    def test_unknown_names_are_warned_about(self) -> None:
        assert any("os/sample-gone" in warning for warning in read("osworld", SAMPLES / "osworld").warnings)

    def test_a_list_of_another_form_is_left_out(self, files: Path) -> None:
        (files / "evaluation_examples" / "test_small.json").write_text('{"chrome": "all"}')
        loaded = read("osworld", files)
        assert "test_small" not in loaded.selections
        assert any("expected a list of names; the list was left out" in warning for warning in loaded.warnings)

    def test_infeasible_tasks_that_their_list_lacks(self, files: Path) -> None:
        (files / "evaluation_examples" / "test_infeasible.json").write_text('{"os": ["sample-quiet"]}')
        warnings = read("osworld", files).warnings
        assert "test_infeasible.json: it lacks infeasible tasks: os/sample-infeasible" in warnings


class TestWindows:
    def test_its_own_task_set_paired_with_the_other(self) -> None:
        loaded = read("osworld", SAMPLES / OSWORLD_WINDOWS)
        assert loaded.suite == "osworld-windows"
        assert {task.labels.os for task in loaded.tasks} == {"windows"}
        twins = {str(task.key): task.labels.extra["twin"] for task in loaded.tasks}
        assert twins["excel/sample-takings"] == "libreoffice_calc/sample-takings"
        assert {task.dialect for task in loaded.tasks} == {"osworld"}

    def test_under_another_name_by_its_domains(self, tmp_path: Path) -> None:
        shutil.copytree(SAMPLES / OSWORLD_WINDOWS, tmp_path / "office")
        assert read("osworld", tmp_path / "office").suite == "osworld-windows"

    def test_alone_in_a_folder(self, tmp_path: Path) -> None:
        shutil.copytree(SAMPLES / OSWORLD_WINDOWS, tmp_path / "all" / "examples_windows")
        assert read("osworld", tmp_path / "all").suite == "osworld-windows"


class TestAssets:
    def test_downloads_of_steps_and_getters(self) -> None:
        result = [url.rpartition("/")[2] for url in external_assets(sample("multi_apps/sample-both"))]
        assert result == ["notes.txt", "check.py", "other.txt"]

    def test_opened_pages_are_not_assets(self) -> None:
        assert external_assets(sample("chrome/sample-colour")) == ()


class TestWarnings:
    def test_mistakes_are_reported_with_their_path(self) -> None:
        result = {finding.path: finding for finding in findings(sample("libreoffice_calc/sample-either"))}
        assert result["evaluator.options.0._note"].severity == "warning"
        assert "evaluator._config_note" in result
        slip = findings(sample("gimp/sample-theme"))
        assert any("a slip for 'type'" in finding.message for finding in slip)

    def test_options_that_upstream_ignores(self) -> None:
        messages = [str(finding) for finding in findings(sample("libreoffice_calc/sample-takings"))]
        assert any("ignore_case: upstream ignores it" in message for message in messages)

    def test_variant_spellings_are_warned_about(self) -> None:
        warnings = read("osworld", SAMPLES / "osworld").warnings
        assert "related_apps: 'libreoffice calc' is read as 'libreoffice_calc' (1 task)" in warnings
