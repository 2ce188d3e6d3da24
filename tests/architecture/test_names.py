"""Names: one word, one meaning; a name says what it holds."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.tree import PRODUCT, parsed, python_files

VAGUE = frozenset(
    {"found", "told", "said", "wanted", "asked", "kept", "held", "begun", "given", "seen", "taken", "made"}
)
"""Participles that name whatever came out of something, and so say nothing."""
SHARED = {
    "Params": "nested in action spaces: an attribute that the registry reads of every plug-in",
    "Task": "the value, and its row, which is written `models.Task`",
    "Evaluation": "the value, and its row",
    "Episode": "the row, and the client library's, which imports nothing of the service",
    "Observation": "the value, and the client library's",
}
"""Names of classes that stand for two things, each with the reason."""


def vague_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and name of each parameter and local variable that says nothing."""
    functions = (
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    )
    for function in functions:
        for node in ast.walk(function):
            if isinstance(node, ast.arg) and node.arg in VAGUE:
                yield node.lineno, node.arg
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in VAGUE:
                yield node.lineno, node.id


class TestLocalNames:
    @pytest.mark.parametrize("path", python_files("backend", "deskarena", "vm_images", "worker"), ids=str)
    def test_say_what_they_hold(self, path: Path) -> None:
        assert sorted(set(vague_names(parsed(path)))) == []

    def test_the_check_sees_parameters_and_variables_in_functions_alone(self) -> None:
        code = (
            "found = 1\nclass A:\n    told: int\ndef f(said):\n    for made in said: pass\n    return lambda seen: seen"
        )
        assert set(vague_names(ast.parse(code))) == {(4, "said"), (5, "made"), (6, "seen")}


class TestClassNames:
    def test_stand_for_one_thing(self) -> None:
        places: dict[str, list[str]] = defaultdict(list)
        for path in python_files(*PRODUCT):
            for node in ast.walk(parsed(path)):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places[node.name].append(str(path))
        several = {name: files for name, files in places.items() if len(files) > 1}
        assert set(several) == set(SHARED), several
