"""Nothing waits a fixed time: whoever waits looks at a condition, with a deadline."""

import ast
from collections.abc import Iterator

from tests.architecture.tree import PRODUCT, TESTS, dotted, parsed, python_files

SLEEPS = {"time.sleep", "asyncio.sleep", "anyio.sleep", "sleep"}


def hands_over(sleep: ast.Call) -> bool:
    """`sleep(0)` lets other tasks run and is no waiting."""
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
        files = python_files(*PRODUCT, *TESTS)
        found = [f"{path}:{call.lineno}" for path in files for call in sleeps_outside_loops(parsed(path))]
        assert found == [], "they sleep a fixed time; wait on a condition with a deadline"

    def test_the_browser_waits_on_what_it_sees(self) -> None:
        found = [
            f"{path}:{node.lineno}"
            for path in python_files("tests/e2e")
            for node in ast.walk(parsed(path))
            if isinstance(node, ast.Attribute) and node.attr == "wait_for_timeout"
        ]
        assert found == [], "they wait a fixed time"
