"""Our tasks in ProSoftArena's form on real desktops: operations, software, pipelines of phases, creative work.

The oracle scores 1, doing nothing 0, an oracle that stops after the first phase exactly its weight; creative work is
handed in. `make test` runs a seeded sample, `make test-all` everything.
"""

from collections import Counter
from pathlib import Path

import pytest

from backend.domain.benchmarks import lint
from backend.domain.model.task import Task
from backend.starter import ROOT
from tests.integration.starter.harness import Bench, Result, in_form
from tests.sampling import sample

LOADED = in_form("prosoftarena")
JUDGED = [task for task in LOADED.tasks if task.evaluator.handed_in]
SCORED = [task for task in LOADED.tasks if not task.evaluator.handed_in]
HALF_WAY = {
    "CALC_L3_001": (12, 0.5, {"phase:total": 1.0, "phase:report": 0.0}),
    "IMG_L3_001": (13, 0.6, {"phase:scaled": 1.0, "phase:page": 0.0}),
}
"""After how many of the oracle's steps the first phase is done, the score then, and the phases."""
PIPELINES = [task for task in LOADED.tasks if task.key.name in HALF_WAY]


class TestCollection:
    def test_two_or_more_of_each_level(self) -> None:
        levels = Counter(str(task.labels.level) for task in LOADED.tasks)
        assert sorted(levels) == ["L1", "L2", "L3", "L4"]
        assert min(levels.values()) >= 2

    def test_only_human_times_are_missing(self) -> None:
        assert {line.partition(": ")[2] for line in LOADED.warnings} == {"metadata: no human seconds"}

    def test_longer_tasks_name_the_operations_they_need(self) -> None:
        known = {str(task.labels.extra["operation"]) for task in LOADED.tasks if task.labels.level == "L1"}
        assert known == {"scale a picture", "enter a formula", "append a line"}
        for task in LOADED.tasks:
            if task.labels.level in {"L2", "L3"}:
                assert set(task.labels.extra["operations"]) <= known

    def test_free_software_needs_no_licence(self) -> None:
        assert {licence for task in LOADED.tasks for licence in task.labels.licences} == set()

    def test_every_asset_is_used(self) -> None:
        used = "".join(task.model_dump_json() for task in LOADED.tasks)
        assert [name for name in LOADED.assets if name not in used] == []

    @pytest.mark.parametrize("task", LOADED.tasks, ids=lambda task: str(task.key))
    def test_each_can_be_run_and_has_a_solution(self, task: Task) -> None:
        assert lint(task, LOADED.assets) == []
        assert task.oracle
        assert task.labels.requires

    def test_the_page_names_every_task(self) -> None:
        page = (ROOT.parents[1] / "docs" / "benchmarks" / "prosoftarena.md").read_text()
        assert [str(task.key) for task in LOADED.tasks if f"`{task.key}`" not in page] == []


def run(bench: Bench, task: Task, agent: str, folder: Path) -> Result:
    missing = bench.missing(task)
    if missing:
        pytest.skip(f"needs {', '.join(missing)}: `make setup APPS=full` installs every application")
    return bench.run(task, agent, folder, loaded=LOADED)


@pytest.mark.desktop
@pytest.mark.timeout(600)
@pytest.mark.sampled(2)
class TestEpisodes:
    @pytest.mark.parametrize("task", sample(SCORED, 1), ids=lambda task: str(task.key))
    def test_the_oracle_solves_it(self, bench: Bench, task: Task, folder: Path) -> None:
        found = run(bench, task, "oracle", folder)
        assert found.evaluation.score == 1.0, found.story()
        assert set(found.evaluation.measures.values()) == {1.0}

    @pytest.mark.parametrize("task", sample(SCORED, 1), ids=lambda task: str(task.key))
    def test_doing_nothing_is_worth_nothing(self, bench: Bench, task: Task, folder: Path) -> None:
        found = run(bench, task, "noop", folder)
        assert set(found.evaluation.measures.values()) == {0.0}, found.story()

    @pytest.mark.parametrize("task", sample(PIPELINES, 1), ids=lambda task: str(task.key))
    def test_half_way_is_the_first_phases_weight(self, bench: Bench, task: Task, folder: Path) -> None:
        steps, score, phases = HALF_WAY[task.key.name]
        assert task.oracle is not None
        found = run(bench, task.model_copy(update={"oracle": task.oracle[:steps]}), "oracle", folder)
        assert found.evaluation.score == pytest.approx(score), found.story()
        assert found.evaluation.measures == pytest.approx({**phases, "score": score})

    @pytest.mark.parametrize("task", sample(JUDGED, 1), ids=lambda task: str(task.key))
    @pytest.mark.parametrize(("agent", "files"), [("oracle", 1.0), ("noop", 0.0)])
    def test_creative_work_is_handed_in(self, bench: Bench, task: Task, agent: str, files: float, folder: Path) -> None:
        found = run(bench, task, agent, folder)
        assert found.evaluation.handed_in, found.story()
        assert found.evaluation.measures == {}
        assert [metric.value for metric in found.evaluation.metrics] == [files], found.story()
