"""Names: one word, one meaning; a name says what it holds."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

import pytest

from tests.architecture.tree import PRODUCT, dotted, parsed, python_files, walked

VAGUE = frozenset(
    {"found", "told", "said", "wanted", "asked", "kept", "held", "begun", "given", "seen", "taken", "made"}
)
"""Participles that name whatever came out of something, and so say nothing."""
PARTICIPLE = re.compile(
    r"_+(?!need|seed|speed|feed|embed)([a-z]*ed|drawn|known|left|looked_up|sent|shown|spoken|thrown|written)"
)
"""A private function is named by what it does (`_parse`) or by what it returns, not by what was done (`_parsed`)."""
SHARED = {
    "Params": "nested in action spaces: an attribute that the registry reads of every plug-in",
    "Task": "the value, and its row, which is written `models.Task`",
    "Evaluation": "the value, and its row",
    "Episode": "the row, and the client library's, which imports nothing of the service",
    "Observation": "the value, and the client library's",
}
"""Names of classes that stand for two things, each with the reason."""


def vague_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and name of each variable, constant, field, attribute, parameter, function and class that says nothing."""
    for node in walked(tree):
        match node:
            case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield from _if_vague(node.lineno, name)
            case ast.ClassDef(name=name):
                yield from _if_vague(node.lineno, name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield from _if_vague(node.lineno, name)


def _if_vague(line: int, name: str) -> Iterator[tuple[int, str]]:
    if name.strip("_").lower() in VAGUE:
        yield line, name


def functions_named_by_participles(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and name of private functions such as `_parsed`; predicates and properties may be."""
    for node in walked(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        answers_yes_or_no = isinstance(node.returns, ast.Name) and node.returns.id == "bool"
        is_property = any(dotted(decorator).endswith("property") for decorator in node.decorator_list)
        if PARTICIPLE.fullmatch(node.name) and not answers_yes_or_no and not is_property:
            yield node.lineno, node.name


class TestNames:
    def test_say_what_they_hold(self) -> None:
        assert [
            f"{path}:{line} {name}"
            for path in python_files(*PRODUCT)
            for line, name in sorted({*vague_names(parsed(path)), *functions_named_by_participles(parsed(path))})
        ] == []

    @pytest.mark.parametrize(
        ("code", "names"),
        [
            ("_FOUND = 1", {(1, "_FOUND")}),
            ("class A:\n    told: int", {(2, "told")}),
            ("class Seen: ...", {(1, "Seen")}),
            ("self._kept, other.held = 1, 2", {(1, "_kept"), (1, "held")}),
            ("def made(said):\n    for asked in said: print(given)", {(1, "made"), (1, "said"), (2, "asked")}),
            ("lambda begun: begun.taken(wanted=1)", {(1, "begun")}),
        ],
    )
    def test_the_check_sees_what_code_names_and_not_what_it_uses(self, code: str, names: set[tuple[int, str]]) -> None:
        assert set(vague_names(ast.parse(code))) == names

    def test_a_private_function_is_not_a_participle(self) -> None:
        code = "def _parsed() -> str: ...\ndef _named() -> bool: ...\ndef _parse(): ...\ndef parsed(): ..."
        assert set(functions_named_by_participles(ast.parse(code))) == {(1, "_parsed")}


def class_files(*folders: str) -> dict[str, list[str]]:
    """Files of each class that is not private, by name."""
    files: dict[str, list[str]] = defaultdict(list)
    for path in python_files(*folders):
        for node in walked(parsed(path)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                files[node.name].append(str(path))
    return files


class TestClassNames:
    def test_stand_for_one_thing(self) -> None:
        several = {name: files for name, files in class_files(*PRODUCT).items() if len(files) > 1}
        assert set(several) == set(SHARED), several

    def test_helpers_of_tests_share_none(self) -> None:
        """Classes of test functions may: pytest names them with their file."""
        product = class_files(*PRODUCT)
        helpers = {name: files for name, files in class_files("tests").items() if not name.startswith("Test")}
        several = {name: files + product.get(name, []) for name, files in helpers.items()}
        assert {name: files for name, files in several.items() if len(files) > 1 and name not in SHARED} == {}
