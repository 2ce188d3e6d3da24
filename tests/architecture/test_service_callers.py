"""Every public function of a service or repository has a product caller: one without is dead, or half a feature."""

import ast
from pathlib import Path

import pytest

from tests.architecture.tree import dotted, imported, parsed, python_files, walked

CALLERS = ("backend", "deskarena", "worker")
WITHOUT_CALLER = {
    "backend.db.repositories.results.rollups.of_run": "tests read the stored cube with it",
}
"""Functions that stay without a caller in the product, each with the reason."""


def module_name(path: Path) -> str:
    """`backend.services.runs.runs` of its file."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def public_functions(path: Path) -> dict[str, ast.AST]:
    """The public functions of a module by their full names."""
    return {
        f"{module_name(path)}.{node.name}": node
        for node in parsed(path).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_")
    }


def names_used(tree: ast.AST) -> set[str]:
    """Every name and every `a.b.c` that code reads."""
    return {dotted(node) for node in walked(tree) if isinstance(node, ast.Name | ast.Attribute)}


def references(path: Path) -> set[str]:
    """Full names that a module uses: what it imports, what it reads of an imported module, and its own functions.

    A function's own name in itself does not count.
    """
    tree = parsed(path)
    modules = {name.rsplit(".", 1)[-1]: name for _, name in imported(tree)} | {
        alias.asname: name
        for node in walked(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
        if alias.asname
        for name in [f"{node.module}.{alias.name}"]
    }
    full = {name for _, name in imported(tree)}
    for used in names_used(tree):
        first, _, rest = used.partition(".")
        if rest and first in modules:
            full.add(f"{modules[first]}.{rest}")
    return full | own_references(path)


def own_references(path: Path) -> set[str]:
    """Functions of a module that its other code names."""
    functions = public_functions(path)
    by_node = [(node, names_used(node)) for node in parsed(path).body]
    return {
        name
        for name, function in functions.items()
        if any(name.rsplit(".", 1)[-1] in used for node, used in by_node if node is not function)
    }


@pytest.fixture(scope="module")
def uncalled() -> set[str]:
    """Public functions of services and repositories that no product code names."""
    used = {name for path in python_files(*CALLERS) for name in references(path)}
    functions = {
        name for path in python_files("backend/services", "backend/db/repositories") for name in public_functions(path)
    }
    return functions - used


def test_every_function_has_a_caller(uncalled: set[str]) -> None:
    assert uncalled - set(WITHOUT_CALLER) == set()


def test_the_list_of_exceptions_is_current(uncalled: set[str]) -> None:
    assert set(WITHOUT_CALLER) - uncalled == set()
