"""Means of measures: per cell, from the counted episodes as they are scored now; undefined ones are counted, not 0."""

from typing import Any

import pytest
from sqlalchemy import select, update

from backend.db.models import Benchmark, Episode, MeasureRollup, Run
from backend.db.models.enums import Dimension
from backend.db.repositories.results import rollups as repository
from backend.domain.model.task import Task
from backend.domain.statistics.intervals import Interval
from backend.services.results import measure_rollups
from backend.services.results.measure_rollups import MeasureMean
from tests.factories.measured import benchmark_of, checkpoint_task, finish, graph_task, graphs, verdict
from tests.factories.records import World


def means(installation: World, run: Run, dimension: Dimension = Dimension.ALL, key: str = "") -> Any:
    installation.roll_up()
    return installation.do(measure_rollups.of_runs, [run.id], [dimension])[run.id][dimension][key]


def composed_for(letters: str, task: Task) -> Task:
    """The task with the label that says which capability it was composed to test."""
    extra = {**task.labels.extra, "capability": letters}
    return task.model_copy(update={"labels": task.labels.model_copy(update={"extra": extra})})


@pytest.fixture
def windows(installation: World) -> Run:
    """One task per level: 2 of 2, 1 of 4 and 0 of 2 checkpoints, and an infeasible one; the first is solved."""
    tasks = [checkpoint_task(f"t{at}", f"L{at + 1}", number) for at, number in enumerate((2, 4, 2, 0))]
    installation.benchmark(benchmark_of(*tasks))
    worker, run = installation.worker(slots=1), installation.submit("random")
    steps: dict[str, list[int | None]] = {"t0": [1, 2], "t1": [3, None, None, None], "t2": [None, None], "t3": []}
    while (claim := installation.claim(worker)) is not None:
        name = claim.task.key.name
        reached = [step for step in steps[name] if step is not None]
        measures = {"S_final": float(name == "t0")}
        measures |= {"S_int": len(reached) / len(steps[name])} if steps[name] else {}
        finish(installation, claim, verdict(claim.task, steps[name], measures["S_final"], measures))
    return run


class TestRecompute:
    def test_task_mean_and_pooled_value_are_both_reported(self, installation: World, windows: Run) -> None:
        found = means(installation, windows)
        assert found["S_int"].mean == pytest.approx((1 + 0.25 + 0) / 3)
        assert (found["S_int"].n, found["S_int"].tasks) == (3, 3)
        assert found["parts"].mean == pytest.approx(3 / 8)
        assert (found["parts"].n, found["parts"].tasks) == (8, 3)
        assert found["S_final"].mean == 0.25
        assert found["S_final"].n == 4

    def test_infeasible_task_is_not_undefined(self, installation: World, windows: Run) -> None:
        assert means(installation, windows)["S_int"].undefined_tasks == 0
        assert set(means(installation, windows, Dimension.LEVEL, "L4")) == {"S_final"}

    def test_undefined_values_are_counted_and_enter_no_mean(self, installation: World) -> None:
        installation.benchmark(benchmark_of(*(graph_task(f"g{at}", at, 2) for at in range(3))))
        worker, run = installation.worker(slots=1), installation.submit("random")
        for lc in (1.0, 0.5, None):
            claim = installation.must_claim(worker)
            measures = {"CR": 1 / 3} | ({} if lc is None else {"LC": lc})
            finish(installation, claim, verdict(claim.task, [1, None], 0.0, measures))
        found = means(installation, run)
        assert found["LC"] == MeasureMean(mean=0.75, interval=found["LC"].interval, n=2, tasks=2, undefined_tasks=1)
        assert found["CR"].undefined_tasks == 0
        assert found["CR"].mean == pytest.approx(1 / 3)

    def test_overall_cr_is_the_mean_of_the_sets(self, installation: World) -> None:
        """PP has two tasks with 0.5 and 1, LIF one with 0: (0.75 + 0) / 2, and not 1.5 / 3."""
        labels = ("PP", "PP", "LIF")
        tasks = [composed_for(letters, graph_task(f"g{at}", at, 2)) for at, letters in enumerate(labels)]
        installation.benchmark(benchmark_of(*tasks))
        worker, run = installation.worker(slots=1), installation.submit("random")
        values = dict(zip(("g0", "g1", "g2"), (0.5, 1.0, 0.0), strict=True))
        while (claim := installation.claim(worker)) is not None:
            measures = {"CR": values[claim.task.key.name], "LC": values[claim.task.key.name]}
            finish(installation, claim, verdict(claim.task, [1, None], 0.0, measures))
        overall = means(installation, run)
        assert (overall["CR"].mean, overall["CR"].n) == (pytest.approx(0.375), 3)
        assert overall["CR"].interval.low <= 0.375 <= overall["CR"].interval.high
        assert overall["LC"].mean == pytest.approx(0.5)
        assert means(installation, run, Dimension.CAPABILITY, "PP")["CR"].mean == pytest.approx(0.75)
        cells = installation.do(repository.of_run, run.id)
        assert {row.key for row in cells if row.dimension == Dimension.CAPABILITY} == {"PP", "LIF"}

    def test_cells_of_capabilities_and_complexities(self, installation: World) -> None:
        task = graph_task("g0", 0, 2)
        installation.benchmark(benchmark_of(task))
        worker, run = installation.worker(slots=1), installation.submit("random")
        finish(installation, installation.must_claim(worker), verdict(task, [1, None], 0.0, {"CR": 0.25}))
        assert means(installation, run, Dimension.CAPABILITY, "PP")["CR"].mean == 0.25
        assert means(installation, run, Dimension.COMPLEXITY, "dependency/easy")["CR"].mean == 0.25
        with installation.work() as session:
            keys = [(row.dimension, row.key) for row in repository.of_run(session, run.id)]
        capabilities = [key for dimension, key in keys if dimension == Dimension.CAPABILITY]
        assert sorted(capabilities) == sorted(task.labels.extra["capabilities"])
        assert sum(dimension == Dimension.COMPLEXITY for dimension, _ in keys) == 5

    def test_phases_are_identified_by_position(self, installation: World) -> None:
        tasks = [checkpoint_task("one", "L3", 2), checkpoint_task("two", "L3", 1)]
        installation.benchmark(benchmark_of(*tasks))
        worker, run = installation.worker(slots=1), installation.submit("random")
        for _ in tasks:
            claim = installation.must_claim(worker)
            number = len(claim.task.evaluator.parts)
            measures = {f"phase:c{at}": 1.0 - at / 2 for at in range(number)}
            finish(installation, claim, verdict(claim.task, [None] * number, 0.5, measures))
        found = means(installation, run)
        assert {name: (found[name].mean, found[name].n) for name in found if name.startswith("phase")} == {
            "phase:1": (1.0, 2),
            "phase:2": (0.5, 1),
        }

    def test_human_assisted_episodes_do_not_count(self, installation: World, windows: Run) -> None:
        before = means(installation, windows)["S_final"].n
        with installation.work() as session:
            episode = session.scalars(select(Episode).where(Episode.solved.is_(True))).one()
            episode.human_assisted = True
            session.get_one(Run, windows.id).rollup_stale = True
        after = means(installation, windows)["S_final"]
        assert (before, after.n, after.mean) == (4, 3, 0.0)

    def test_twice_is_the_same(self, installation: World) -> None:
        (run, _) = graphs(installation, tasks=6)
        installation.roll_up()
        once = installation.do(measure_rollups.of_runs, [run], list(Dimension))
        installation.do(lambda session: session.execute(update(Run).values(rollup_stale=True)))
        assert installation.roll_up()
        assert installation.do(measure_rollups.of_runs, [run], list(Dimension)) == once

    def test_a_run_without_measures_has_none(self, ready: World) -> None:
        ready.worker()
        run = ready.submit()
        ready.roll_up()
        assert ready.do(measure_rollups.of_runs, [run.id], [Dimension.ALL]) == {}
        with ready.work() as session:
            assert session.scalars(select(MeasureRollup)).all() == []
            assert session.scalars(select(Benchmark)).one()


class TestInterval:
    def test_is_that_of_the_score_over_tasks(self, installation: World, windows: Run) -> None:
        found = means(installation, windows)["S_final"]
        assert isinstance(found.interval, Interval)
        assert found.interval.low <= found.mean <= found.interval.high
