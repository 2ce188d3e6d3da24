"""Nothing waits a fixed time: each wait checks a condition, with a deadline. Clocks run for all threads."""

import ast
from collections.abc import Iterator

from tests.architecture.tree import PRODUCT, TESTS, calls, dotted, parsed, python_files, walked

SLEEPS = {"time.sleep", "asyncio.sleep", "anyio.sleep", "sleep"}

SLEEP_IN_TESTS = {
    "tests/waiting.py": "it is what the others wait with",
    "tests/contract/traces.py": "it runs on the desktop, where nothing of ours can be imported",
    "tests/fakes/kubernetes/subresources.py": "the fake API server follows a log as the real one does",
    "tests/unit/desktops/test_wire.py": "a guest that sends a byte now and then",
    "tests/unit/services/artifacts/test_ssrf_safe_http.py": "a web server that sends a byte now and then",
}
"""Files of tests that may sleep, each with the reason."""


OF_ALL_THREADS = {"asyncio", "os", "queue", "select", "selectors", "socket", "subprocess", "threading", "time"}
"""Modules of the standard library whose functions threads of other tests' servers and clusters call meanwhile."""


def hands_over(sleep: ast.Call) -> bool:
    """`sleep(0)` lets other tasks run and does not count as waiting."""
    return bool(sleep.args) and isinstance(sleep.args[0], ast.Constant) and sleep.args[0].value == 0


def sleeps_outside_loops(node: ast.AST, *, looping: bool = False) -> Iterator[ast.Call]:
    """Calls that sleep and are not part of a loop which looks again afterwards."""
    if isinstance(node, ast.Call) and dotted(node.func) in SLEEPS and not looping and not hands_over(node):
        yield node
    inside = looping or isinstance(node, ast.While | ast.For | ast.AsyncFor)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        inside = False
    for child in ast.iter_child_nodes(node):
        yield from sleeps_outside_loops(child, looping=inside)


class TestSleepsOutsideLoops:
    """The check itself."""

    def test_finds_a_plain_sleep(self) -> None:
        assert list(sleeps_outside_loops(ast.parse("import time\ntime.sleep(1)")))

    def test_allows_a_sleep_in_a_loop(self) -> None:
        assert not list(sleeps_outside_loops(ast.parse("while not ready():\n    time.sleep(0.1)")))

    def test_finds_a_sleep_in_a_function_made_in_a_loop(self) -> None:
        assert list(sleeps_outside_loops(ast.parse("for x in y:\n    def f():\n        time.sleep(1)")))


class TestTree:
    def test_nothing_sleeps_outside_a_loop(self) -> None:
        files = python_files(*PRODUCT, *TESTS, containing=("sleep",))
        found = [f"{path}:{call.lineno}" for path in files for call in sleeps_outside_loops(parsed(path))]
        assert found == [], "they sleep a fixed time; wait on a condition with a deadline"

    def test_a_test_waits_with_tests_waiting(self) -> None:
        files = {
            str(path)
            for path in python_files(*TESTS, containing=("sleep",))
            for call in calls(parsed(path))
            if dotted(call.func) in SLEEPS and not hands_over(call)
        }
        assert files == set(SLEEP_IN_TESTS), "use `until` or `holds` of tests/waiting.py"

    def test_the_browser_waits_on_what_it_sees(self) -> None:
        found = [
            f"{path}:{node.lineno}"
            for path in python_files("tests/e2e", containing=("wait_for_timeout",))
            for node in walked(parsed(path))
            if isinstance(node, ast.Attribute) and node.attr == "wait_for_timeout"
        ]
        assert found == [], "they wait a fixed time"

    def test_a_test_replaces_a_function_for_the_module_under_test_only(self) -> None:
        found = [
            f"{path}:{call.lineno}"
            for path in python_files(*TESTS, containing=("monkeypatch.setattr",))
            for call in calls(parsed(path))
            if dotted(call.func) == "monkeypatch.setattr" and _replaced(call) in OF_ALL_THREADS
        ]
        assert found == [], "replace the name in the module that is tested: `setattr(module, 'time', ...)`"


def _replaced(call: ast.Call) -> str:
    """The module whose attribute a call replaces, given as an object or by the attribute's path."""
    target = call.args[0]
    if isinstance(target, ast.Constant) and isinstance(target.value, str):
        return target.value.rpartition(".")[0]
    return dotted(target)
