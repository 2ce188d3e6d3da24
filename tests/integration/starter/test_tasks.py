"""The starter on real desktops: the oracle solves every task, doing nothing none, FAIL only what cannot be done.

`make test` runs one or two seeded tasks of each system with each agent, `make test-daily` eight tasks with all agents
and the oracle on all of Windows, `make test-all` everything.
"""

from pathlib import Path

import pytest

from backend.domain.benchmarks import expected_score
from backend.domain.model.run import VALIDATION_AGENTS
from backend.domain.model.task import Task
from tests.integration.starter.harness import Bench, starter
from tests.sampling import sample

TASKS = starter().tasks
WINDOWS = [task for task in TASKS if task.labels.os == "windows"]
SAMPLED = [*sample([task for task in TASKS if task.labels.os == "linux"], 6), *sample(WINDOWS, 2)]
OTHERS = [task for task in WINDOWS if task not in SAMPLED]


def few(task: Task, agent: str) -> pytest.MarkDecorator:
    """Two solutions on Linux; one of everything else, as each takes ten seconds."""
    number = 2 if (task.labels.os, agent) == ("linux", "oracle") else 1
    return pytest.mark.sampled(number, of=f"{task.labels.os}, {agent}")


CASES = [
    *(
        pytest.param(task, agent, id=f"{task.key}-{agent}", marks=few(task, agent))
        for task in SAMPLED
        for agent in VALIDATION_AGENTS
    ),
    *(pytest.param(task, "oracle", id=f"{task.key}-oracle", marks=pytest.mark.campaign) for task in OTHERS),
]


@pytest.mark.desktop
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("task", "agent"), CASES)
class TestTasks:
    def test_scores_what_it_must(self, bench: Bench, task: Task, agent: str, folder: Path) -> None:
        missing = bench.missing(task)
        if missing:
            pytest.skip(f"needs {', '.join(missing)}: `make setup APPS=full` installs every application")
        result = bench.run(task, agent, folder)
        assert result.evaluation.score == pytest.approx(expected_score(task, agent)), result.story()
