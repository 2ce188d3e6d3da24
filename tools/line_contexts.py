"""Which tests execute a line: a pytest plug-in that records it, and the reader of its records.

Each pytest process with `-p tools.line_contexts` writes a data file of Coverage.py into the folder that FOLDER names.
Code that runs before the first test, such as a module's constants, has no test.
"""

import ast
import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest
from coverage import Coverage, CoverageData

FOLDER, PACKAGES = "DESKARENA_TEST_CONTEXTS", "DESKARENA_TEST_CONTEXTS_OF"
"""Environment variables: the folder of the records; the packages of interest, separated by `:`."""


class ContextRecorder:
    """Records the lines of each test, its fixtures included."""

    def __init__(self, folder: Path, packages: Sequence[str]) -> None:
        self._coverage = Coverage(
            data_file=folder / "lines", data_suffix=True, config_file=False, include=[f"{name}/*" for name in packages]
        )

    def start(self) -> None:
        """Begins with code that belongs to no test."""
        self._coverage.start()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """All variants of a parametrized test are one test here."""
        self._coverage.switch_context(item.nodeid.partition("[")[0])
        yield
        self._coverage.switch_context("")

    def pytest_sessionfinish(self) -> None:
        """Writes the record."""
        self._coverage.stop()
        self._coverage.save()


def pytest_configure(config: pytest.Config) -> None:
    """Records in processes that run tests: xdist's workers, or the only one."""
    runs_tests = hasattr(config, "workerinput") or not config.getoption("numprocesses", None)
    if runs_tests:
        recorder = ContextRecorder(Path(os.environ[FOLDER]), os.environ[PACKAGES].split(":"))
        config.pluginmanager.register(recorder)
        recorder.start()


class LineContexts:
    """The tests of each line, from all records in a folder."""

    def __init__(self, folder: Path) -> None:
        self._data = CoverageData(no_disk=True)
        for path in sorted(folder.iterdir()):
            part = CoverageData(path)
            part.read()
            self._data.update(part)

    def tests_of(self, module: Path, line: int) -> list[str]:
        """Ids of the tests that execute the statement of this line; of a compound statement only its head."""
        tests = self._data.contexts_by_lineno(str(module.resolve()))
        return sorted(
            {test for covered_line in statement_lines(module, line) for test in tests.get(covered_line, ()) if test}
        )


@cache
def _statements(module: Path) -> list[range]:
    """Lines of each statement, of the head alone where it has a body; the innermost come last."""
    nodes = [node for node in ast.walk(ast.parse(module.read_text())) if isinstance(node, ast.stmt)]
    return sorted((range(node.lineno, _end(node) + 1) for node in nodes), key=lambda lines: -len(lines))


def _end(node: ast.stmt) -> int:
    body = getattr(node, "body", None)
    return max(node.lineno, body[0].lineno - 1) if body else (node.end_lineno or node.lineno)


def statement_lines(module: Path, line: int) -> range:
    """Lines of the innermost statement that a line belongs to; the line alone if there is none."""
    around = [lines for lines in _statements(module) if line in lines]
    return around[-1] if around else range(line, line + 1)
