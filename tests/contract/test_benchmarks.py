"""Every registered benchmark reader: typed errors for what is broken, the same tasks for the same files."""

from pathlib import Path
from typing import Any

import pytest

from backend.domain import registry
from backend.domain.benchmarks import lint
from backend.domain.errors import Invalid
from backend.domain.registry import PluginKind
from backend.starter import TASKS
from tests.factories.suites import SAMPLES

registry.load()
READERS = registry.names(PluginKind.BENCHMARK)
EXAMPLES = {"starter": TASKS} | {
    name: SAMPLES / name for name in ("omnibench", "osworld", "prosoftarena", "waa", "windowsworld")
}
"""A folder that each reader can read."""


def made(name: str) -> Any:
    return registry.lookup(PluginKind.BENCHMARK, name)()


@pytest.mark.parametrize("name", READERS)
class TestReaders:
    def test_reading_twice_gives_the_same_benchmark(self, name: str) -> None:
        first, second = made(name).load(EXAMPLES[name]), made(name).load(EXAMPLES[name])
        assert first.kind == made(name).kind == name
        assert first.content_hash() == second.content_hash()
        assert len({task.key for task in first.tasks}) == len(first.tasks) > 0
        assert first.licence
        assert first.source

    def test_every_task_of_it_can_be_run(self, name: str) -> None:
        loaded = made(name).load(EXAMPLES[name])
        assert {str(task.key): found for task in loaded.tasks if (found := lint(task, loaded.assets))} == {}

    @pytest.mark.parametrize("what", ["nothing", "file", "empty folder"])
    def test_unreadable_files_are_refused(self, name: str, what: str, tmp_path: Path) -> None:
        path = tmp_path / "x"
        if what == "file":
            path.write_text("x")
        elif what == "empty folder":
            path.mkdir()
        with pytest.raises(Invalid):
            made(name).load(path)
