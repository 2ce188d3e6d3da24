"""A skipped test says what it needs, so that a reader of the summary can install it."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.tree import TESTS, calls, dotted, parsed, python_files

SKIPS = {
    "pytest.skip",
    "pytest.mark.skip",
    "pytest.mark.skipif",
    "pytest.importorskip",
    "pytest.xfail",
    "pytest.mark.xfail",
}


def reason_of(call: ast.Call) -> str:
    """The literal words of a skip's reason, empty if there are none."""
    where = [keyword.value for keyword in call.keywords if keyword.arg == "reason"]
    where += call.args[:1] if dotted(call.func) in {"pytest.skip", "pytest.mark.skip"} else []
    words = [str(node.value) for value in where for node in ast.walk(value) if isinstance(node, ast.Constant)]
    return " ".join(words)


def unexplained(tree: ast.Module) -> Iterator[ast.Call]:
    """Skips whose reason does not contain the word `needs`."""
    for call in calls(tree):
        if dotted(call.func) in SKIPS and "needs " not in reason_of(call):
            yield call


class TestUnexplained:
    """The check itself."""

    def test_finds_a_bare_skip(self) -> None:
        assert list(unexplained(ast.parse('pytest.skip("not today")')))

    def test_accepts_a_reason_that_says_what_is_missing(self) -> None:
        assert not list(unexplained(ast.parse('pytest.skip(f"needs {program}: apt install it")')))


class TestTree:
    def test_every_skip_names_what_it_needs(self) -> None:
        files = python_files(*TESTS, containing=("skip", "xfail"))
        files = [path for path in files if path.name != Path(__file__).name]
        found = [f"{path}:{call.lineno}" for path in files for call in unexplained(parsed(path))]
        assert found == [], "say in the reason what the test needs"
