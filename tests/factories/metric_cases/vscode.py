"""Files for the metrics of upstream's module `vscode`."""

import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.factories.docx import words
from tests.factories.metric_cases import Call, MetricCase

Maker = Callable[[Path], Call]
SETTINGS = '// mine\n{"editor.wordWrapColumn": 50, /* "x": 1 */ "files.exclude": {"**/__pycache__": true,},}\n'
BINDING = {"key": "ctrl+j", "command": "workbench.action.focusActiveEditorGroup", "when": "terminalFocus"}
HEAD = "// Place your key bindings in this file to override the defaults\n"
TESTS = "import snake\ndef test():\n    return snake.eats(3)\n"


def ruled(name: str, text: str, rules: Mapping[str, Any], **options: Any) -> Maker:
    """A call with a text file and rules."""

    def make(folder: Path) -> Call:
        (folder / name).write_text(text)
        return Call((str(folder / name), rules), options)

    return make


def files(name: str, actual: str, wanted: str, **options: Any) -> Maker:
    """A call with two text files."""

    def make(folder: Path) -> Call:
        (folder / "result").mkdir()
        (folder / "result" / name).write_text(actual)
        (folder / f"gold_{name}").write_text(wanted)
        return Call((str(folder / "result" / name), str(folder / f"gold_{name}")), options)

    return make


def large_files(folder: Path, size: int) -> Call:
    """Two equal texts of a size."""
    text = "\n".join(words(size // 7))
    return files("x.txt", text, text)(folder)


def large_json(folder: Path, size: int) -> Call:
    """Settings of a size."""
    text = json.dumps({word: word for word in words(size // 16)}, indent=1)
    return ruled("settings.json", f"// mine\n{text}", {"expected": {}})(folder)


def large_bindings(folder: Path, size: int) -> Call:
    """Key bindings of a size."""
    text = json.dumps([{"key": word, "command": word} for word in words(size // 36)])
    return ruled("keybindings.json", HEAD + text, {"expected": BINDING})(folder)


def large_config(folder: Path, size: int) -> Call:
    """The same for containment."""
    call = large_json(folder, size)
    return Call((call.args[0], {"expected": "{}"}))


def zipped(path: Path, members: Mapping[str, str]) -> str:
    """Writes a zip file."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, text in members.items():
            out.writestr(name, text)
    return str(path)


def zips(actual: Mapping[str, str], wanted: Mapping[str, str]) -> Maker:
    """A call with two zip files."""
    return lambda folder: Call((zipped(folder / "result.zip", actual), zipped(folder / "gold.zip", wanted)))


def large_zips(folder: Path, size: int) -> Call:
    """Two equal zip files of a size."""
    members = {f"{number}.txt": " ".join(words(size // 50, number)) for number in range(10)}
    return zips(members, members)(folder)


def program(body: str) -> Maker:
    """A call with a program and its tests."""

    def make(folder: Path) -> Call:
        (folder / "result").mkdir()
        (folder / "result" / "snake.py").write_text(f"def eats(food):\n    return {body}\n")
        (folder / "test_suite.py").write_text(TESTS)
        return Call((str(folder / "result" / "snake.py"), str(folder / "test_suite.py")))

    return make


def page(value: str) -> Maker:
    """A page with a background."""
    text = f"<html><head><style>body {{ background-image: url('{value}'); }}</style></head><body>x</body></html>"
    return ruled("index.html", text, {"value": "anmi_sharper.png"})


def large_page(folder: Path, size: int) -> Call:
    """A page of a size."""
    text = "".join(f"<p>{word}</p>" for word in words(size // 14))
    return ruled("index.html", f"<style>a {{ background: url(x.png) }}</style>{text}", {"value": "x.png"})(folder)


def answered(answer: str, rules: Mapping[str, Any]) -> Maker:
    """A call with a text."""
    return lambda _: Call((answer, rules))


TEXT = MetricCase(
    passing=files("a.txt", "a\nb\n", "a\nb\n"), near_miss=files("a.txt", "a\nc\n", "a\nb\n"), sized=large_files
)
STRICT_TEXT = MetricCase(passing=TEXT.passing, near_miss=files("a.txt", "a\nb", "a\nb\n"), sized=large_files)
SUITE = MetricCase(passing=program("food == 3"), near_miss=program("food == 4"))
EXTENSION = {"type": "contain", "expected": "ms-python.python"}

CASES: dict[str, MetricCase] = {
    "check_json_settings": MetricCase(
        passing=ruled("settings.json", SETTINGS, {"expected": {"files.exclude": {"**/__pycache__": True}}}),
        near_miss=ruled("settings.json", SETTINGS, {"expected": {"editor.wordWrapColumn": 51}}),
        sized=large_json,
    ),
    "check_json_keybindings": MetricCase(
        passing=ruled("keybindings.json", HEAD + json.dumps([BINDING]), {"expected": BINDING}),
        near_miss=ruled("keybindings.json", HEAD + json.dumps([{**BINDING, "when": ""}]), {"expected": BINDING}),
        sized=large_bindings,
    ),
    "compare_text_file": STRICT_TEXT,
    "compare_text_file@starter": TEXT,
    "compare_config": MetricCase(
        passing=ruled("settings.json", SETTINGS, {"expected": '{"editor.wordWrapColumn": 50}'}, containment_ok=True),
        near_miss=ruled("settings.json", SETTINGS, {"expected": '{"editor.wordWrapColumn": 5}'}, containment_ok=True),
        sized=large_config,
    ),
    "compare_config@waa": MetricCase(
        passing=ruled("OpenProject.txt", "project", {"expected": "project"}),
        near_miss=ruled("OpenProject.txt", "project\n", {"expected": "project"}),
    ),
    "compare_answer": MetricCase(
        passing=answered("42", {"expected": "42"}), near_miss=answered("42 ", {"expected": "42"}), of_file=False
    ),
    "is_extension_installed": MetricCase(
        passing=answered("x.y\nms-python.python\n", EXTENSION),
        near_miss=answered("ms-python", EXTENSION),
        of_file=False,
    ),
    "compare_zip_files": MetricCase(
        passing=zips({"d/": "", "d/a.txt": "1"}, {"d/a.txt": "1"}),
        near_miss=zips({"d/a.txt": "1", "e/": ""}, {"d/a.txt": "1"}),
        sized=large_zips,
        kinds=("zip",),
    ),
    "compare_result_files": MetricCase(
        passing=files("r.txt", "The median is 42.0.", "42\n"),
        near_miss=files("r.txt", "The median is 142.", "42\n"),
        sized=large_files,
    ),
    "check_html_background_image": MetricCase(
        passing=page("anmi_sharper.png"), near_miss=page("anmi.png"), sized=large_page
    ),
    "check_python_file_by_gold_file": MetricCase(
        passing=files("a.py", "x = 1\n", "x = 1"), near_miss=files("a.py", "x = 2\n", "x = 1"), sized=large_files
    ),
    "check_python_file_by_test_suite": SUITE,
    "check_python_file_by_test_suite@waa": SUITE,
}
