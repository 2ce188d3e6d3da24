"""Settings, key bindings, results, zip files, pages, and programs with tests."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain import registry
from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.vscode import _suite
from backend.domain.formats.jsonc import parse_jsonc
from backend.domain.registry import PluginKind
from tests.error_codes import raises_code

registry.load()
LEAVES = st.none() | st.booleans() | st.integers() | st.text()
JSON = st.recursive(LEAVES, lambda one: st.lists(one) | st.dictionaries(st.text(), one))


def metric(name: str, dialect: str = "osworld") -> Any:
    return registry.lookup(PluginKind.METRIC, name, dialect)


@pytest.fixture
def write(tmp_path: Path) -> Any:
    """Writes a file and gives its path."""

    def make(name: str, data: str | bytes) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return str(path)

    return make


class TestJsonc:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ('{"a": 1, // x\n "b": [1, 2,],\n}', {"a": 1, "b": [1, 2]}),
            (
                '/* "a" */ {"url": "http://x/*y*/", "c": "a,}", "q": "\\"//"}',
                {"url": "http://x/*y*/", "c": "a,}", "q": '"//'},
            ),
            ("[1, /* , */ ]", [1]),
            ("// only\nnull", None),
        ],
    )
    def test_json_with_comments_and_trailing_commas_is_parsed(self, text: str, value: Any) -> None:
        assert parse_jsonc(text) == (value, "")

    @pytest.mark.parametrize(
        "text", ["", "{,}x", '{"a": 1', "[1,,]", "[" * 100_000, "/*" * 50_000, '"' + "\\" * 50_001]
    )
    def test_invalid_json_is_rejected(self, text: str) -> None:
        value, reason = parse_jsonc(text)
        assert value is None
        assert reason.startswith("the file is not JSON")

    def test_plain_json_has_no_trailing_commas(self) -> None:
        assert parse_jsonc("[1,]", plain=True)[0] is None

    @settings(max_examples=50, deadline=None)
    @given(JSON)
    def test_json_is_jsonc(self, value: Any) -> None:
        assert parse_jsonc(json.dumps(value)) == parse_jsonc(json.dumps(value, indent=1)) == (value, "")


class TestSettings:
    def test_settings_with_comments_are_read(self, write: Any) -> None:
        path = write("settings.json", '{"a": 1, // x\n}')
        assert metric("check_json_settings")(path, {"expected": {"a": 1}}).value == 1.0
        assert metric("check_json_settings")(path, {"expected": {"a": 1}}, strict_upstream=True).value == 0.0

    @pytest.mark.parametrize(
        ("text", "expected", "value"),
        [
            ('{"a": 0}', {"a": False}, 0.0),
            ('{"a": true}', {"a": 1}, 0.0),
            ('{"a": {"b": [1]}}', {"a": {"b": [True]}}, 0.0),
            ('{"a": 4.0}', {"a": 4}, 1.0),
            ('{"a": null}', {"a": None}, 1.0),
            ('{"a": null}', {"a": False}, 0.0),
            ('{"a": "1"}', {"a": 1}, 0.0),
        ],
    )
    def test_values_by_type(self, write: Any, text: str, expected: dict[str, Any], value: float) -> None:
        path, bindings = write("settings.json", text), write("keybindings.json", f"[{text}]")
        assert metric("check_json_settings")(path, {"expected": expected}).value == value
        assert metric("check_json_keybindings")(bindings, {"expected": expected}).value == value

    def test_strict_upstream_treats_true_as_1(self, write: Any) -> None:
        path, bindings = write("settings.json", '{"a": [1]}'), write("keybindings.json", '[{"a": [1]}]')
        rules = {"expected": {"a": [True]}}
        assert metric("check_json_settings")(path, rules, strict_upstream=True).value == 1.0
        assert metric("check_json_keybindings")(bindings, rules, strict_upstream=True).value == 1.0

    def test_reasons_name_setting_and_values(self, write: Any) -> None:
        path = write("settings.json", '{"a": 1}')
        result = metric("check_json_settings")(path, {"expected": {"a": 2, "b": None}})
        assert result.reasons == ("a is 1, expected 2; b is not set, expected nothing",)
        assert metric("check_json_settings")(write("list.json", "[]"), {"expected": {"a": 1}}).value == 0.0

    def test_key_bindings_with_comments_are_read(self, write: Any) -> None:
        binding = {"key": "ctrl+f", "command": "-list.find"}
        path = write("keybindings.json", '// head\n[{"key": "ctrl+f", "command": "-list.find"}]')
        late = write("late.json", '[{"key": "ctrl+f", "command": "-list.find"} /* mine */,]')
        call = metric("check_json_keybindings")
        assert [call(one, {"expected": binding}).value for one in (path, late)] == [1.0, 1.0]
        assert [call(one, {"expected": binding}, strict_upstream=True).value for one in (path, late)] == [1.0, 0.0]
        assert call(path, {"expected": {**binding, "when": "x"}}).value == 0.0

    @pytest.mark.parametrize("name", ["check_json_settings", "check_json_keybindings", "compare_config"])
    def test_invalid_rules_give_no_verdict(self, write: Any, name: str) -> None:
        with pytest.raises(EvaluatorFailed):
            metric(name)(write("x.json", "{}"), {"expected": 5})


class TestConfig:
    @pytest.mark.parametrize(
        ("text", "expected", "values"),
        [
            ('{"t": "Dark", "x": {"y": 1, "z": 2}}', '{"x": {"y": 1}}', [1, 0, 0]),
            ('{"t": 1}', '{"t": true}', [0, 0, 0]),
            ('{"t":"Dark"}', '{"t": "Dark"}\n', [1, 1, 0]),
            ("/home/user/project", "project", [1, 0, 0]),
            ("project", "project", [1, 1, 1]),
            ('{"a": [1, 2]}', '{"a": [1]}', [0, 0, 0]),
        ],
    )
    def test_compare_config_is_as_in_each_suite(self, write: Any, text: str, expected: str, values: list[int]) -> None:
        path, rules = write("x", text), {"expected": expected}
        ours = metric("compare_config")
        result = [
            ours(path, rules),
            ours(path, rules, containment_ok=False),
            metric("compare_config", "waa")(path, rules),
        ]
        assert [one.value for one in result] == values

    def test_text_files_of_the_suites(self, write: Any) -> None:
        one, two = write("a", "a\r\nb\n"), write("b", "a\nb")
        values = [metric("compare_text_file", dialect)(one, two).value for dialect in ("starter", "common")]
        assert values == [1.0, 0.0]
        assert metric("compare_text_file")(one, two, ignore_blanks=True).value == 1.0
        assert metric("compare_text_file")(write("c", "A\nB\n"), one, ignore_case=True).value == 1.0

    def test_unanswered_questions_score_0(self) -> None:
        assert metric("compare_answer")("", {"expected": ""}).value == 0.0
        call = metric("is_extension_installed")
        assert call("a.b\n", {"type": "not_contain", "expected": "ToDo"}).value == 1.0
        assert call(None, {"type": "not_contain", "expected": "ToDo"}).value == 0.0
        with pytest.raises(EvaluatorFailed):
            call("a", {"type": "equal", "expected": "a"})

    @pytest.mark.parametrize(
        ("output", "name", "there"),
        [
            ("test.py\n", "test.py", True),
            ("C:\\x\\test.py\r\n", "test.py", True),
            ("my_test.py\n", "test.py", False),
            ("test.pyc test.py~ test.py.bak\n", "test.py", False),
            ("ms-python.python@2024.1\n", "ms-python.python", True),
            ("ms-python.python-extra\n", "ms-python.python", False),
            ("Hidden    REG_DWORD    0x10\n", "0x1", False),
            ("11/27/2026  <DIR>  ToDoLists.\n", "ToDoLists", True),
        ],
    )
    def test_extension_must_be_a_whole_name(self, output: str, name: str, there: bool) -> None:  # noqa: FBT001
        call = metric("is_extension_installed")
        assert call(output, {"type": "contain", "expected": name}).value == float(there)
        assert call(output, {"type": "not_contain", "expected": name}).value == float(not there)
        assert call(output, {"type": "contain", "expected": name}, strict_upstream=True).value == 1.0


class TestResults:
    @pytest.mark.parametrize(
        ("found", "wanted", "ours", "theirs"),
        [
            ("42", "42", 1, 1),
            ("The price is $42.", "42", 1, 1),
            ("142", "42", 0, 1),
            ("-42", "42", 0, 1),
            ("42.00001", "42", 1, 1),
            ("42.5", "42", 0, 1),
            ("x: 42.00", "42", 1, 1),
            ("1,042.5 dollars", "1042.5", 1, 0),
            ("4.2e1", "42", 1, 1),
            ("forty two", "42", 0, 0),
            ("\N{MINUS SIGN}42", "42", 0, 1),
            ("\N{MINUS SIGN}42", "-42", 1, 0),
            ("42,5", "42", 0, 1),
            ("10^42", "42", 0, 1),
            ("42/2", "42", 0, 1),
            ("42/2", "21", 1, 0),
            ("40-42", "42", 0, 1),
            ("A42", "42", 0, 1),
            ("42 000", "42", 0, 1),
            ("6 × 7 = 42", "42", 1, 1),
            ("42 kg", "42", 1, 1),
            ("42 million", "42", 0, 1),
            ("**42**", "42", 1, 1),
            ("42,", "42", 1, 1),
            (" Berlin\n", "Berlin", 1, 1),
            ("in Berlin", "Berlin", 0, 0),
        ],
    )
    def test_number_in_the_answer_must_equal_the_expected_one(
        self, write: Any, found: str, wanted: str, ours: int, theirs: int
    ) -> None:
        paths = write("found", found), write("wanted", wanted)
        assert metric("compare_result_files")(*paths).value == ours
        assert metric("compare_result_files")(*paths, strict_upstream=True).value == theirs


class TestPages:
    @pytest.mark.parametrize(
        ("style", "ours", "theirs"),
        [
            ("<style>a{background-image: url('x.png')}</style>", 1, 1),
            ('<style>a{background:red url( "x.png" ) }</style>', 1, 0),
            ("<p style='background-image:url(x.png)'>", 1, 0),
            ("<style>/* background-image: url('x.png') */</style>", 0, 1),
            ("<style>a{background-image: url('my_x.png')}</style>", 0, 0),
            ("<style>body { background-image: url('./x.png') }</style>", 1, 0),
            ("<style>body { background-image: url(%78.png) }</style>", 1, 0),
            ("<style>body { background-image: url(../x.png) }</style>", 0, 0),
        ],
    )
    def test_every_form_of_background_image_is_read(self, write: Any, style: str, ours: int, theirs: int) -> None:
        path = write("x.html", style)
        call = metric("check_html_background_image")
        assert call(path, {"value": "x.png"}).value == ours
        assert call(path, {"value": "x.png"}, strict_upstream=True).value == theirs


class TestZips:
    def zipped(self, path: Path, members: dict[str, bytes]) -> str:
        with zipfile.ZipFile(path, "w") as out:
            for name, data in members.items():
                out.writestr(name, data)
        return str(path)

    def test_names_may_begin_with_a_dot(self, tmp_path: Path) -> None:
        one, two = (self.zipped(tmp_path / name, {member: b"x"}) for name, member in (("a", "./b/c"), ("b", "b/c")))
        call = metric("compare_zip_files")
        assert [call(one, two, strict_upstream=strict).value for strict in (False, True)] == [1.0, 0.0]

    def test_folders_are_chance(self, tmp_path: Path) -> None:
        one = self.zipped(tmp_path / "a.zip", {"d/": b"", "d/a": b"1"})
        two = self.zipped(tmp_path / "b.zip", {"d/a": b"1"})
        assert metric("compare_zip_files")(one, two).value == 1.0
        assert metric("compare_zip_files")(one, two, strict_upstream=True).value == 0.0

    def test_reasons_name_missing_and_unexpected_files(self, tmp_path: Path) -> None:
        one = self.zipped(tmp_path / "a.zip", {"a": b"1", "b": b"2"})
        two = self.zipped(tmp_path / "b.zip", {"a": b"1", "c": b"2"})
        assert metric("compare_zip_files")(one, two).reasons == ("'c' is missing", "'b' is unexpected")

    def test_a_damaged_pdf(self, tmp_path: Path) -> None:
        one = self.zipped(tmp_path / "a.zip", {"a.pdf": b"1"})
        two = self.zipped(tmp_path / "b.zip", {"a.pdf": b"2"})
        assert metric("compare_zip_files")(one, two).reasons == ("'a.pdf' differs",)


class TestSuite:
    @pytest.fixture
    def run(self, write: Any) -> Any:
        def call(program: str, tests: str, dialect: str = "osworld", **options: Any) -> Any:
            paths = write("result/main.py", program), write("test_suite.py", tests)
            return metric("check_python_file_by_test_suite", dialect)(*paths, **options)

        return call

    @pytest.mark.parametrize(
        ("value", "osworld", "waa"), [("True", 1, 1), ("0.25", 0.25, 1), ("7", 1, 1), ("[]", 0, 0), ("None", 0, 0)]
    )
    def test_value_of_the_test_is_the_score(self, run: Any, value: str, osworld: float, waa: float) -> None:
        tests = "import main\ndef test():\n    return main.x\n"
        assert run(f"x = {value}", tests).value == osworld
        assert run(f"x = {value}", tests, "waa").value == waa

    @pytest.mark.parametrize(
        ("program", "words"),
        [
            ("raise ValueError('no')", "ValueError: no"),
            ("import os; os._exit(0)", "without a result"),
            ("import socket; socket.create_connection(('127.0.0.1', 9))", "no network"),
            ("import os\nassert 'HOME' not in os.environ and 'PATH' not in os.environ\n1 / 0", "ZeroDivisionError"),
            ("x = bytearray(3 << 30)", "MemoryError"),
        ],
    )
    def test_program_that_breaks_off_scores_0(self, run: Any, program: str, words: str) -> None:
        result = run(program, "import main\ndef test():\n    return True\n")
        assert result.value == 0.0
        assert words in result.reasons[0]

    def test_programs_that_do_not_end(self, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_suite, "SECONDS", 1.0)
        program = "import os, time\nos.fork()\nwhile True: time.sleep(9)"
        assert "did not end" in run(program, "import main\ndef test():\n    return True\n").reasons[0]

    KILLED = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"

    COUNTED = (
        "with open({0!r}) as file: killed = int(file.read().split()[-1]) + 1\n"
        "with open({0!r}, 'w') as file: file.write(f'nr_free_pages 7\\noom_kill {{killed}}')\n"
    )

    @pytest.fixture
    def kernel(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """Where the kernel says that it has killed three times."""
        counts = tmp_path / "vmstat"
        counts.write_text("nr_free_pages 7\noom_kill 3\n")
        monkeypatch.setattr(_suite, "COUNTS", counts)
        return counts

    def test_a_process_that_the_kernel_kills_for_want_of_memory_is_not_an_answer(self, run: Any, kernel: Path) -> None:
        program = self.COUNTED.format(str(kernel)) + self.KILLED
        with raises_code(EvaluatorFailed, "out_of_memory"):
            run(program, "import main\ndef test():\n    return True\n")

    def test_killed_test_process_is_retried(self, run: Any, tmp_path: Path) -> None:
        program = (
            f"import os\nif not os.path.exists(p := {str(tmp_path / 'seen')!r}):\n    open(p, 'w')\n    os.kill(0, 9)"
        )
        assert run(program, "import main\ndef test():\n    return True\n").value == 1.0

    @pytest.mark.usefixtures("kernel")
    def test_a_program_that_kills_itself_has_not_passed(self, run: Any) -> None:
        result = run(self.KILLED, "import main\ndef test():\n    return True\n")
        assert (result.value, "without a result" in result.reasons[0]) == (0.0, True)

    def test_unknown_oom_count_is_not_retried(self, run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_suite, "COUNTS", tmp_path / "none")
        assert run(self.KILLED, "import main\ndef test():\n    return True\n").value == 0.0

    def test_the_limit_of_processor_time_is_the_programs_own(
        self, run: Any, kernel: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_suite, "CPU_SECONDS", 1)
        program = self.COUNTED.format(str(kernel)) + "while True: pass"
        assert run(program, "import main\ndef test():\n    return True\n").value == 0.0

    @pytest.mark.parametrize("tests", ["def test(:", "x = 1"])
    def test_tests_that_are_wrong(self, run: Any, tests: str) -> None:
        with pytest.raises(EvaluatorFailed):
            run("", tests)

    def test_a_library_that_is_not_here(self, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_suite, "LIBRARIES", ("library_of_games",))
        with raises_code(EvaluatorFailed, "module_missing", mentions="library_of_games"):
            run("import library_of_games", "import main\ndef test():\n    return True\n")

    def test_program_cannot_pretend_that_a_library_is_missing(self, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        """Else it would turn its 0 into an attempt that does not count."""
        monkeypatch.setattr(_suite, "LIBRARIES", ("numpy",))
        lie = "raise ModuleNotFoundError('No module named numpy', name='numpy')"
        assert run(lie, "import main\ndef test():\n    return True\n").value == 0.0

    def test_named_test_function_is_called(self, run: Any) -> None:
        tests = "def check():\n    return True\n"
        assert run("", tests, test_function_name="check").value == 1.0

    def test_an_absent_program(self, write: Any) -> None:
        tests = write("test_suite.py", "def test():\n    return True\n")
        assert metric("check_python_file_by_test_suite")([None, "x"], tests).value == 0.0
