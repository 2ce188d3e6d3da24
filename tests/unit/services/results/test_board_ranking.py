"""A board's tasks and its lower bounds, without a database."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from backend.db.models import AgentConfiguration, PassRollup, Run
from backend.db.repositories.results.rollups import TaskTotals
from backend.domain import registry
from backend.services.results.board_ranking import BoardTasks, board_tasks
from backend.services.results.board_rows import NOTHING, BoardRow
from backend.services.results.conditions import conditions_of
from backend.services.results.measure_rollups import Sums, TaskSums
from backend.services.results.pass_rollups import pool, primary_rates
from backend.services.results.rollups import RollupInputs, compute
from backend.services.runs.summary import EpisodeCounts, describe


def row(attempted: int, not_runnable: int = 0, reference: str = "", key: str = "") -> BoardRow:
    totals = replace(NOTHING, counts=EpisodeCounts(not_runnable=not_runnable))
    passes = PassRollup(
        attempted_tasks=attempted,
        not_runnable_tasks=not_runnable,
        tasks_key=key or str(attempted),
        rates={},
        passes=1,
        runs=[{}],
    )
    agent = AgentConfiguration(name="prompt")
    return BoardRow(Run(), agent, [], reference, describe(totals, None, None, ""), conditions_of({}), passes=passes)


class TestBoardTasks:
    @pytest.mark.parametrize("reference", ["floor", "privileged", "human"])
    def test_references_decide_nothing(self, reference: str) -> None:
        """A floor on a machine with more programs must not make every agent's row partial."""
        rows = [row(5, not_runnable=2), row(6, 1, reference), row(7, 0, reference)]
        assert board_tasks(rows, 7) == BoardTasks(5, 7, "5")
        assert board_tasks(rows[1:], 7) == BoardTasks(7, 7)


def task(at: int, scored: int, lost: int = 0, level: str | None = "L1", **extra: Any) -> TaskTotals:
    return TaskTotals(
        UUID(int=at), "all", None, level, (), scored, 0, 0.0, 0.0, {"guest": lost} if lost else {}, 0, 0, 0, 0, 0,
        protocol=extra.pop("protocol", "windowsworld"), extra=extra,
    )  # fmt: skip


def sums_of(**measures: dict[int, tuple[int, float]]) -> Sums:
    """Number of values and their sum, by task."""
    return {
        name: TaskSums(
            np.array([str(UUID(int=at)) for at in tasks]),
            np.array([number for number, _ in tasks.values()], dtype=float),
            np.array([total for _, total in tasks.values()]),
        )
        for name, tasks in measures.items()
    }


class TestPrimaryRates:
    """Of a measure other than the score: a task counts once, and a lost episode as 0 of its task."""

    @pytest.fixture(autouse=True)
    def protocols(self) -> None:
        registry.load()

    def test_a_task_counts_once_however_many_passes_it_has(self) -> None:
        # A partial run repeats the first task twice.
        inputs = RollupInputs([task(1, 3), task(2, 1)], sums_of(S_final={1: (3, 3.0), 2: (1, 0.0)}))
        rates = primary_rates(inputs)
        assert rates is not None
        assert (rates["measure"], rates["mean"][0], rates["lower"]) == ("S_final", 0.5, 0.5)

    def test_the_lower_bound_is_on_the_scale_of_the_score(self) -> None:
        """Two losses of one task cost as much as that task, not as two of six episodes."""
        inputs = RollupInputs([task(1, 2), task(2, 2), task(3, 0, lost=2)], sums_of(S_final={1: (2, 2.0), 2: (2, 1.0)}))
        rates = primary_rates(pool([inputs]))
        assert rates is not None
        assert (rates["mean"][0], rates["lower"]) == (pytest.approx(0.75), pytest.approx(0.5))

    def test_coverage_is_the_mean_of_the_sets_with_losses_too(self) -> None:
        tasks = [
            task(at, int(at < 4), int(at == 4), None, protocol="omnibench", capability=capability)
            for at, capability in ((1, "PP"), (2, "PP"), (3, "DI"), (4, "DI"))
        ]
        rates = primary_rates(RollupInputs(tasks, sums_of(CR={1: (1, 1.0), 2: (1, 0.5), 3: (1, 0.5)})))
        assert rates is not None
        assert rates["measure"] == "CR"
        assert rates["mean"][0] == pytest.approx((0.75 + 0.5) / 2)
        assert rates["lower"] == pytest.approx((0.75 + 0.25) / 2)

    def test_cells_count_it_so_and_parts_one_by_one(self) -> None:
        sums = sums_of(S_final={1: (3, 3.0), 2: (1, 0.0)}, parts={1: (6, 6.0), 2: (2, 0.0)})
        inputs = RollupInputs([task(1, 3), task(2, 1)], sums)
        means = {
            (row["dimension"], row["measure"]): (row["total"] / row["n"], row["n"], row["tasks"])
            for row in compute(inputs, by_task=True).means
        }
        assert means["all", "S_final"] == (0.5, 4, 2)
        assert means["all", "parts"] == (0.75, 8, 2)

    def test_no_primary_rates_when_the_score_ranks(self) -> None:
        assert primary_rates(RollupInputs([task(1, 1, protocol="")], sums_of(S_int={1: (1, 1.0)}))) is None
        assert primary_rates(RollupInputs([task(1, 0, lost=1)], {})) is None
