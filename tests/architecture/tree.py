"""The tree as the architecture tests see it: Python files of the product and of the tests, parsed once."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PRODUCT = ("backend", "deskarena", "integrations", "worker", "vm_images", "migrations", "tools")
TESTS = ("tests",)


def python_files(*folders: str) -> list[Path]:
    """Python files below the folders, relative to the root, in a fixed order."""
    return sorted(
        path.relative_to(ROOT)
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
        if "__pycache__" not in path.parts
    )


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file given relative to the root."""
    return ast.parse((ROOT / path).read_text(), filename=str(path))


def imported(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and full name of everything a module imports, late imports included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def dotted(node: ast.expr) -> str:
    """`a.b.c` of a name or attribute, empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    return ""


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    """Every call in a tree."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))
