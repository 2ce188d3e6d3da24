"""Which tests execute a line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.line_contexts import FOLDER, PACKAGES, LineContexts, statement_lines
from tools.mutants import ROOT

MODULE = """LIMIT = 3


def twice(number):
    if number > LIMIT:
        return (
            LIMIT
            * 2
        )
    return number * 2
"""
TESTS = """import pytest
from rules.numbers import twice


@pytest.fixture
def small():
    return twice(1)


@pytest.mark.parametrize("number", [7, 8])
def test_large(number):
    assert twice(number) == 6


class TestSmall:
    def test_by_fixture(self, small):
        assert small == 2
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A module whose two tests were recorded, in the folder `records` beside its package."""
    root = tmp_path_factory.mktemp("project")
    for name, text in {"rules/__init__.py": "", "rules/numbers.py": MODULE, "test_numbers.py": TESTS}.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    (root / "records").mkdir()
    environment = {
        **os.environ,
        "PYTHONPATH": f"{root}:{ROOT}",
        FOLDER: str(root / "records"),
        PACKAGES: str(root / "rules"),
    }
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "tools.line_contexts",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        ".",
    ]
    subprocess.run(words, cwd=root, env=environment, check=True, capture_output=True, timeout=120)
    return root / "rules" / "numbers.py"


class TestLineContexts:
    @pytest.mark.parametrize(
        ("line", "tests"),
        [
            pytest.param(1, [], id="import"),
            pytest.param(5, ["test_numbers.py::TestSmall::test_by_fixture", "test_numbers.py::test_large"], id="both"),
            pytest.param(8, ["test_numbers.py::test_large"], id="statement-of-several-lines"),
            pytest.param(10, ["test_numbers.py::TestSmall::test_by_fixture"], id="by-a-fixture"),
        ],
    )
    def test_names_the_tests_of_a_line(self, module: Path, line: int, tests: list[str]) -> None:
        assert LineContexts(module.parent.parent / "records").tests_of(module, line) == tests


class TestStatementLines:
    @pytest.mark.parametrize(
        ("line", "lines"), [(1, range(1, 2)), (5, range(5, 6)), (8, range(6, 10)), (3, range(3, 4))]
    )
    def test_a_compound_statement_is_its_head(self, module: Path, line: int, lines: range) -> None:
        assert statement_lines(module, line) == lines
