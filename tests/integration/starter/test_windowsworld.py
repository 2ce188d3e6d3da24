"""Our tasks in WindowsWorld's form on real desktops, with recorded answers of a judge.

The oracle reaches every checkpoint, doing nothing reaches none, and an oracle that stops half-way exactly those that it
has passed. `make test` runs a seeded sample, `make test-all` everything.
"""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from backend.domain.benchmarks import lint
from backend.domain.judging.criteria import criteria_of
from backend.domain.model.task import PartKind, Task
from backend.starter import ROOT
from tests.integration.starter.harness import Bench, Result, in_form
from tests.integration.starter.recorded_judge import recorded_judge
from tests.sampling import sample

LOADED = in_form("windowsworld")
JUDGE = recorded_judge(ROOT / "windowsworld" / "judge.jsonl")
FEASIBLE = [task for task in LOADED.tasks if task.labels.feasible]


class HalfWay(NamedTuple):
    """The steps after which an oracle stops, and the checkpoints reached by then."""

    steps: int
    reached: tuple[str, ...]
    s_int: float


HALF_WAY = {
    "start_it_l1_001": HalfWay(3, ("c1", "c2"), 2 / 3),
    "start_adm_l1_002": HalfWay(3, ("c1",), 1 / 2),
    "start_hr_l2_003": HalfWay(3, ("c1",), 1 / 3),
    "start_acc_l2_004": HalfWay(10, ("c1",), 1 / 2),
    "start_gen_l2_005": HalfWay(3, ("c1",), 1 / 2),
    "start_sof_l3_006": HalfWay(5, ("c1",), 1 / 3),
    "start_it_l3_007": HalfWay(3, ("c1",), 1 / 3),
}


class TestCollection:
    def test_two_or_more_of_each_level(self) -> None:
        levels = Counter(str(task.labels.level) for task in LOADED.tasks)
        assert sorted(levels) == ["L1", "L2", "L3", "L4"]
        assert min(levels.values()) >= 2

    def test_some_are_for_a_judge_and_some_for_checks(self) -> None:
        judged = [task.key.name for task in LOADED.tasks if criteria_of(task)]
        assert judged == ["start_adm_l1_002", "start_it_l3_007"]

    @pytest.mark.parametrize("task", LOADED.tasks, ids=lambda task: str(task.key))
    def test_each_can_be_run_and_has_a_solution(self, task: Task) -> None:
        assert lint(task, LOADED.assets) == []
        assert task.oracle
        assert ("fail" in task.oracle[-1]) == (not task.labels.feasible)
        assert task.labels.requires

    def test_the_page_names_every_task(self) -> None:
        page = (ROOT.parents[1] / "docs" / "benchmarks" / "windowsworld.md").read_text()
        assert [str(task.key) for task in LOADED.tasks if f"`{task.key}`" not in page] == []


def run(bench: Bench, task: Task, agent: str, folder: Path) -> Result:
    missing = bench.missing(task)
    if missing:
        pytest.skip(f"needs {', '.join(missing)}: run `make setup`")
    return bench.run(task, agent, folder, loaded=LOADED, judge=JUDGE if criteria_of(task) else None)


@pytest.mark.desktop
@pytest.mark.timeout(600)
@pytest.mark.sampled(2)
class TestEpisodes:
    @pytest.mark.parametrize("task", sample(LOADED.tasks, 3), ids=lambda task: str(task.key))
    def test_the_oracle_reaches_all(self, bench: Bench, task: Task, folder: Path) -> None:
        found = run(bench, task, "oracle", folder)
        assert found.evaluation.measures["S_final"] == 1.0, found.story()
        if task.labels.feasible:
            assert found.evaluation.measures["S_int"] == 1.0, found.story()
            held = [part.name for part in found.evaluation.parts if not part.reached]
            assert held == [], found.story()

    @pytest.mark.parametrize("task", sample(LOADED.tasks, 3), ids=lambda task: str(task.key))
    def test_doing_nothing_reaches_none(self, bench: Bench, task: Task, folder: Path) -> None:
        """Also for an infeasible task, which needs the answer FAIL."""
        found = run(bench, task, "noop", folder)
        assert found.evaluation.measures["S_final"] == 0.0, found.story()
        assert found.evaluation.measures.get("S_int", 0.0) == 0.0, found.story()

    @pytest.mark.parametrize("task", sample(FEASIBLE, 3), ids=lambda task: str(task.key))
    def test_half_way_is_exactly_so_much(self, bench: Bench, task: Task, folder: Path) -> None:
        half = HALF_WAY[task.key.name]
        assert task.oracle is not None
        found = run(bench, task.model_copy(update={"oracle": task.oracle[: half.steps]}), "oracle", folder)
        checkpoints = [part for part in found.evaluation.parts if part.kind is PartKind.CHECKPOINT]
        assert tuple(part.name for part in checkpoints if part.reached) == half.reached, found.story()
        assert found.evaluation.measures["S_int"] == pytest.approx(half.s_int)
        assert found.evaluation.measures["S_final"] == 0.0
