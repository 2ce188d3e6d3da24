"""The tree as the architecture tests see it: Python files of the product and of the tests, parsed once."""

import ast
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PRODUCT = ("backend", "deskarena", "integrations", "worker", "vm_images", "migrations", "tools")
TESTS = ("tests",)


@cache
def python_files(*folders: str, containing: Collection[str] = ("",)) -> list[Path]:
    """Python files below the folders, relative to the root, in a fixed order.

    Args:
        folders: relative to the root.
        containing: only files whose text contains one of these, as parsing takes a hundred times as long as reading.
    """
    return sorted(
        path.relative_to(ROOT)
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
        if "__pycache__" not in path.parts and any(word in _text(path) for word in containing)
    )


@cache
def _text(path: Path) -> str:
    return path.read_text()


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file given relative to the root."""
    text = _text(ROOT / path)
    try:
        return ast.parse(text, filename=str(path))
    except SystemError:  # Python before 3.12 counts wrongly if another thread parses meanwhile (gh-106905).
        return ast.parse(text, filename=str(path))


@cache
def walked(tree: ast.AST) -> Sequence[ast.AST]:
    """All nodes of a tree, as `ast.walk` gives them."""
    return tuple(ast.walk(tree))


def imported(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and full name of everything a module imports, late imports included."""
    for node in walked(tree):
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
    return (node for node in walked(tree) if isinstance(node, ast.Call))
