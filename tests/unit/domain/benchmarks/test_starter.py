import json
from pathlib import Path
from typing import Any

import pytest

from backend.domain import registry
from backend.domain.benchmarks import expected_score, is_sound, lint
from backend.domain.benchmarks.starter import StarterReader
from backend.domain.errors import Invalid
from backend.domain.model.task import Difficulty, DifficultySource, LoadedBenchmark, MetricCall, SetupStep
from tests.error_codes import raises_code
from tests.factories.starter_tasks import make_task

registry.load()


def task_file(**more: Any) -> dict[str, Any]:
    evaluator: dict[str, Any] = {
        "func": "exact_match",
        "result": {"type": "vm_command_line", "command": "cat a"},
        "expected": {"type": "rule", "rules": {"expected": "1"}},
    }
    return {"id": "one", "instruction": "Do it.", "config": [], "evaluator": evaluator, **more}


def write(root: Path, files: dict[str, Any]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return root


def load(root: Path, **files: Any) -> LoadedBenchmark:
    return StarterReader().load(write(root, {"editor/one.json": task_file(), **files}))


class TestLoad:
    def test_a_task_with_our_labels(self, tmp_path: Path) -> None:
        more = {"difficulty": "hard", "difficulty_source": "author", "requires": ["mousepad"], "max_steps": 9}
        more |= {"related_apps": ["LibreOffice-Calc", "libreoffice calc"], "oracle": [{"press": "a"}]}
        task = load(tmp_path, **{"editor/one.json": task_file(**more)}).tasks[0]
        assert str(task.key) == "editor/one"
        assert (task.dialect, task.max_steps, task.labels.requires) == ("starter", 9, ("mousepad",))
        assert (task.labels.difficulty, task.labels.difficulty_source) == (Difficulty.HARD, DifficultySource.AUTHOR)
        assert task.labels.apps == ("libreoffice_calc",)
        assert task.oracle == ({"press": "a"},)

    def test_lists_of_metrics(self, tmp_path: Path) -> None:
        result, expected = {"type": "vm_command_line", "command": "a"}, {"type": "rule", "rules": {"expected": 1}}
        evaluator: dict[str, Any] = {
            "func": ["exact_match", "check_include_exclude"],
            "conj": "or",
            "result": [result, result],
        }
        evaluator |= {"expected": [expected, {}], "options": [{"a": 1}, None]}
        task = load(tmp_path, **{"editor/one.json": task_file(evaluator=evaluator)}).tasks[0]
        assert task.evaluator.conj == "or"
        assert [call.expected for call in task.evaluator.calls] == [expected, None]
        assert [call.options for call in task.evaluator.calls] == [{"a": 1}, {}]

    def test_infeasible_in_both_published_forms(self, tmp_path: Path) -> None:
        forms: list[dict[str, Any]] = [{"func": "infeasible"}, {"func": "infeasible", "result": {}, "expected": {}}]
        for evaluator in forms:
            task = load(tmp_path, **{"editor/one.json": task_file(evaluator=evaluator)}).tasks[0]
            assert task.evaluator.infeasible
            assert not task.labels.feasible
            assert task.evaluator.calls == (MetricCall(func="infeasible"),)

    def test_assets_licence_and_a_list(self, tmp_path: Path) -> None:
        files = {"assets/a/b.txt": "B", "about.json": {"licence": "Apache-2.0", "source": "us"}}
        files |= {"test_all.json": {"editor": ["one"]}, "editor/two.json": task_file()}
        loaded = load(tmp_path, **files)
        assert (loaded.licence, loaded.source, loaded.assets) == ("Apache-2.0", "us", {"a/b.txt": b"B"})
        assert [str(task.key) for task in loaded.tasks] == ["editor/one"]
        assert loaded.warnings == ("editor/two.json: it is not in test_all.json and was left out",)

    def test_the_examples_folder_of_upstream(self, tmp_path: Path) -> None:
        loaded = StarterReader().load(write(tmp_path, {"examples/os/one.json": task_file()}))
        assert [str(task.key) for task in loaded.tasks] == ["os/one"]

    def test_mismatched_id_is_a_warning(self, tmp_path: Path) -> None:
        assert "key id" in load(tmp_path, **{"editor/one.json": task_file(id="two")}).warnings[0]

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            ("{", "editor/one.json: expected JSON"),
            ("[]", "editor/one.json: expected an object, got a list"),
            ('{"id": NaN}', "editor/one.json: expected JSON"),
            ('{"id": 1e999}', "editor/one.json: key id: a number"),
            ('{"id": "\\u0000"}', "editor/one.json: key id: a text"),
            ('{"id": {"a\\ud800": 1}}', "editor/one.json: key id.a?: a text"),
            ('{"id": ' + "[" * 90 + "]" * 90 + "}", "editor/one.json: key id.0.0"),
            (task_file(instruction=""), "editor/one.json: key instruction"),
            (task_file(config=[{"parameters": {}}]), "editor/one.json: key config.0.type"),
            (task_file(evaluator={}), "editor/one.json: key evaluator.func"),
            (task_file(evaluator={"func": ["a", "b"], "result": [{"type": "x"}]}), "editor/one.json: key evaluator"),
            (task_file(evaluator={"func": "a", "result": {"path": "x"}}), "editor/one.json: key result.type"),
            (task_file(evaluator={"func": "a", "conj": "xor"}), "editor/one.json: key evaluator.conj"),
            (task_file(difficulty="easy"), "difficulty_source"),
            (task_file(difficulty="simple", difficulty_source="author"), "editor/one.json: key difficulty"),
            (task_file(max_steps=0), "editor/one.json: key max_steps"),
        ],
    )
    def test_a_broken_file_is_named_with_its_key(self, tmp_path: Path, content: Any, words: str) -> None:
        with pytest.raises(Invalid) as wrong:
            load(tmp_path, **{"editor/one.json": content})
        assert words in wrong.value.message

    @pytest.mark.parametrize(
        ("listed", "words"),
        [({"editor": ["none"]}, "no file editor/none.json"), ({"editor": "one"}, "expected a list"), ([], "an object")],
    )
    def test_a_broken_list_is_named(self, tmp_path: Path, listed: Any, words: str) -> None:
        with raises_code(Invalid, "invalid_task_file", mentions=words):
            load(tmp_path, **{"test_all.json": listed})

    def test_a_link_out_of_the_folder_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "secret").write_text("s")
        root = write(tmp_path / "set", {"editor/one.json": task_file(), "assets/a": ""})
        (root / "assets" / "b").symlink_to(tmp_path / "secret")
        with raises_code(Invalid, "invalid_task_file", path="assets/b"):
            StarterReader().load(root)

    def test_a_huge_task_file_is_refused(self, tmp_path: Path) -> None:
        with raises_code(Invalid, "invalid_task_file", path="editor/one.json"):
            load(tmp_path, **{"editor/one.json": " " * (2**20 + 1)})

    @pytest.mark.parametrize("name", ["nowhere", "."])
    def test_folder_without_tasks_is_invalid(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(Invalid):
            StarterReader().load(tmp_path / name)

    def test_the_same_files_are_the_same_task_set(self, tmp_path: Path) -> None:
        assert load(tmp_path / "a").content_hash() == load(tmp_path / "b").content_hash()


class TestLint:
    def test_sound_task_has_no_findings(self) -> None:
        assert lint(make_task(oracle=[{"press": "a"}]), []) == []

    def test_unknown_names_are_found(self) -> None:
        call = MetricCall(func="exakt_match", result={"type": "vm_fil"}, expected={"type": "rule", "rules": 1})
        result = lint(make_task(call, setup=(SetupStep(type="lunch"),)))
        assert [line.split(":")[0] for line in result] == ["config.0", "evaluator.result.0", "evaluator.func.0"]
        assert "Did you mean launch?" in result[0]

    def test_wrong_parameters_are_found(self) -> None:
        call = MetricCall(func="exact_match", result={"type": "vm_file", "path": "/a"}, expected={"type": "rule"})
        step = SetupStep(type="launch", parameters={"comand": "x"})
        result = lint(make_task(call, setup=(step,), postconfig=[{"type": "sleep", "parameters": {"seconds": "long"}}]))
        assert [line.split(":")[0] for line in result] == [
            "config.0",
            "evaluator.postconfig.0",
            "evaluator.result.0",
            "evaluator.expected.0",
        ]

    def test_missing_assets_are_found(self) -> None:
        step = SetupStep(type="download", parameters={"files": [{"url": "asset:a", "path": "/a"}]})
        task = make_task(setup=(step,))
        assert lint(task, []) == ["asset 'a' is not in the assets folder"]
        assert lint(task, ["a"]) == lint(task) == []

    def test_a_broken_solution_is_found(self) -> None:
        assert lint(make_task(oracle=[{"clik": {}}])) != []


class TestExpectedScore:
    @pytest.mark.parametrize(("agent", "score"), [("oracle", 1.0), ("noop", 0.0), ("always_fail", 0.0)])
    def test_expected_score_of_a_feasible_task(self, agent: str, score: float) -> None:
        assert expected_score(make_task(), agent) == score
        assert is_sound(make_task(), agent, score)
        assert not is_sound(make_task(), agent, 0.5)

    @pytest.mark.parametrize(("agent", "score"), [("oracle", 1.0), ("noop", 0.0), ("always_fail", 1.0)])
    def test_expected_score_of_an_infeasible_task(self, agent: str, score: float) -> None:
        assert expected_score(make_task(MetricCall(func="infeasible")), agent) == score
