"""Sizes and shapes of modules that conventions.md fixes."""

from pathlib import Path

import pytest

from tests.architecture.tree import PRODUCT, ROOT, TESTS, python_files

MOST_LINES = 400
SCRIPTS = sorted(path.relative_to(ROOT) for path in (ROOT / "frontend" / "static").rglob("*.js"))


class TestModuleSize:
    @pytest.mark.parametrize("path", [*python_files(*PRODUCT, *TESTS), *SCRIPTS], ids=str)
    def test_a_module_stays_readable(self, path: Path) -> None:
        lines = len((ROOT / path).read_text().splitlines())
        assert lines <= MOST_LINES, f"{path} has {lines} lines; split it by what it does"


class TestTestFiles:
    @pytest.mark.parametrize("path", python_files("tests/unit"), ids=str)
    def test_a_unit_test_mirrors_an_existing_module_or_package(self, path: Path) -> None:
        """tests/unit/a/b/test_c.py belongs to a/b/c.py (of the product), or to the package a/b."""
        if not path.name.startswith("test_"):
            return
        inside = path.relative_to("tests/unit")
        bases = [ROOT, ROOT / "backend", ROOT / "worker", ROOT / "vm_images"]
        wanted = [base / inside.parent for base in bases]
        assert any(folder.is_dir() or folder.with_suffix(".py").is_file() for folder in wanted), (
            f"{path} mirrors nothing: expected a folder {inside.parent} in the product"
        )
