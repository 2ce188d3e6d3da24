"""Sizes and shapes of modules that conventions.md fixes."""

import ast

from tests.architecture.tree import PRODUCT, ROOT, TESTS, parsed, python_files, walked

MOST_LINES = 400
MOST_LINES_OF_A_FUNCTION = 60
SCRIPTS = sorted(path.relative_to(ROOT) for path in (ROOT / "frontend" / "static").rglob("*.js"))


class TestModuleSize:
    def test_a_module_stays_readable(self) -> None:
        lines = {
            path: len((ROOT / path).read_text().splitlines()) for path in (*python_files(*PRODUCT, *TESTS), *SCRIPTS)
        }
        found = [f"{path} has {number} lines" for path, number in lines.items() if number > MOST_LINES]
        assert found == [], "split them by what they do"


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """From `def` to the end, without the docstring."""
    first = function.body[0]
    has_docstring = ast.get_docstring(function, clean=False) is not None
    docstring = (first.end_lineno or 0) - first.lineno + 1 if has_docstring else 0
    return (function.end_lineno or 0) - function.lineno + 1 - docstring


class TestFunctionSize:
    def test_a_function_fits_on_a_screen(self) -> None:
        """Migrations are left out: each lists the tables of one change."""
        folders = [folder for folder in (*PRODUCT, *TESTS) if folder != "migrations"]
        long = [
            f"{path}:{node.lineno} {node.name} has {number} lines"
            for path in python_files(*folders)
            for node in walked(parsed(path))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and (number := lines_of(node)) > MOST_LINES_OF_A_FUNCTION
        ]
        assert long == [], "split them by what they do"


class TestTestFiles:
    def test_a_unit_test_mirrors_an_existing_module_or_package(self) -> None:
        """tests/unit/a/b/test_c.py belongs to a/b/c.py (of the product), or to the package a/b."""
        bases = [ROOT, ROOT / "backend", ROOT / "worker", ROOT / "vm_images"]
        places = {path.relative_to("tests/unit").parent for path in python_files("tests/unit") if path.match("test_*")}
        mirrored = {
            place for place in places for base in bases
            if (base / place).is_dir() or (base / place).with_suffix(".py").is_file()
        }  # fmt: skip
        assert places - mirrored == set(), "expected such a folder in the product"
