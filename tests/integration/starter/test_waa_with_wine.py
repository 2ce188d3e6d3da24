"""WindowsAgentArena's tasks on Notepad, as published, with Wine: our solutions reach 1, doing nothing reaches 0.

The files that they take from the web are stand-ins of ours. `make test` runs one of the four, `make test-all` all.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from backend.domain.model.task import LoadedBenchmark, Task
from tests.factories.suites import read
from tests.integration.starter.harness import Bench
from tests.sampling import sample

PUBLISHED = Path(__file__).resolve().parents[4] / "shared" / "benchmarks" / "waa"
WEB = "https://raw.githubusercontent.com/rogeriobonatti/winarenafiles/main/task_files/notepad"
DRAFT, COUNT = "366de66e-cbae-4d72-b042-26390db2b145-WOS", "a7d4b6c5-569b-452e-9e1d-ffdb3d431d15-WOS"
STAND_INS = {
    f"{WEB}/{DRAFT}/eval/draft.txt": b"This is a draft.",
    f"{WEB}/{COUNT}/config/largefile.txt": b"One example, another example.\r\nNothing here.\r\nA last example.\r\n",
    f"{WEB}/{COUNT}/eval/example_count_gold.txt": b"3",
}


def write(text: str, path: str) -> Sequence[Mapping[str, Any]]:
    """Starts Notepad from the Start menu, types, and saves under that path."""
    return (
        {"click": {"role": "button", "app": "shell_traywnd"}},
        {"wait": {"app": "tag-32768"}},
        {"press": "r"},
        {"wait": {"role": "edit", "window": "Run", "states": ["focused"]}},
        {"type": "notepad"},
        {"press": "enter"},
        {"wait": {"role": "edit", "app": "notepad", "states": ["focused"]}},
        {"type": text},
        {"wait": {"role": "edit", "app": "notepad", "text": text}},
        {"hotkey": ["ctrl", "s"]},
        {"wait": {"role": "edit", "window": "Save As", "states": ["focused"]}},
        {"hotkey": ["ctrl", "a"]},
        {"type": path},
        {"wait": {"role": "edit", "window": "Save As", "text": path}},
        {"click": {"role": "button", "window": "Save As", "name": "&Save"}},
        {"wait_window_gone": "Save As"},
        {"wait_window": path.rpartition("\\")[2]},
    )


SOLUTIONS = {
    DRAFT: write("This is a draft.", r"C:\Users\Docker\Documents\draft.txt"),
    COUNT: write("3", r"C:\Users\Docker\Documents\example_count.txt"),
}
pytestmark = pytest.mark.skipif(not PUBLISHED.is_dir(), reason="needs ../shared/benchmarks/waa")


def published() -> tuple[LoadedBenchmark, dict[str, Task]]:
    """The suite with the stand-ins, and its tasks on Notepad by name, solved."""
    loaded = read("waa", PUBLISHED)
    tasks = {task.key.name: task for task in loaded.tasks if task.key.domain == "notepad"}
    solved = {name: task.model_copy(update={"oracle": SOLUTIONS[name]}) for name, task in tasks.items()}
    return loaded.model_copy(update={"assets": STAND_INS}), solved


class TestTable:
    def test_these_are_all_that_need_nothing_but_notepad(self) -> None:
        loaded = read("waa", PUBLISHED)
        names = {task.key.name for task in loaded.tasks if task.labels.requires == ("notepad",)}
        assert names == set(SOLUTIONS)


@pytest.mark.desktop
@pytest.mark.timeout(300)
class TestOnWine:
    @pytest.mark.parametrize(
        ("name", "agent", "score"),
        sample([(name, *row) for name in SOLUTIONS for row in (("oracle", 1.0), ("noop", 0.0))], 1),
    )
    def test_scores_what_it_must(self, bench: Bench, name: str, agent: str, score: float, folder: Path) -> None:
        loaded, tasks = published()
        missing = bench.missing(tasks[name])
        if missing:
            pytest.skip(f"needs {', '.join(missing)}: `make setup` installs Wine where apt has it")
        result = bench.run(tasks[name], agent, folder, loaded=loaded)
        assert result.evaluation.score == score, result.story()
