"""The stored cube equals a computation from scratch, after any order of events."""

import random
from typing import Any

from sqlalchemy import select, update

from backend.db.models import Episode, Rollup, Run, Task
from backend.db.repositories.results import rollups as repository
from backend.domain.errors import FailureClass
from backend.services.results import rollups
from backend.services.results.run_summaries import summary
from backend.services.runs import runs
from tests.factories.records import World
from tests.factories.tasks import make_benchmark, make_task
from tests.sampling import seed


def by_hand(installation: World, run: Run) -> dict[tuple[str, str], dict[str, Any]]:
    """Counts per cell, the slow and obvious way."""
    cells: dict[tuple[str, str], dict[str, Any]] = {}
    with installation.work() as session:
        query = select(Episode, Task).join(Task, Task.id == Episode.task_id).where(Episode.run_id == run.id)
        for episode, task in session.execute(query):
            hard = task.difficulty or "unlabelled"
            keys = [("all", ""), ("domain", task.domain), ("difficulty", hard)]
            keys += [("domain_difficulty", f"{task.domain}/{hard}")]
            keys += [("level", task.level)] if task.level else []
            keys += [("app", app) for app in task.apps]
            single = {1: "single"}.get(len(task.apps), "multi")
            keys += [("apps_count", single), ("apps_number", str(len(task.apps)))] if task.apps else []
            keys += [("os", "linux"), ("feasible", "yes"), ("network", "none")]
            for key in keys:
                cell = cells.setdefault(key, {"episodes": 0, "score": 0.0, "solved": 0, "lost": {}, "states": {}})
                cell["episodes"] += 1
                cell["score"] += episode.score or 0.0
                cell["solved"] += bool(episode.solved)
                cell["states"][episode.state] = cell["states"].get(episode.state, 0) + 1
                if episode.failure_class:
                    cell["lost"][episode.failure_class] = cell["lost"].get(episode.failure_class, 0) + 1
    return cells


def stored(installation: World, run: Run) -> dict[tuple[str, str], Rollup]:
    with installation.work() as session:
        return {(row.dimension, row.key): row for row in repository.of_run(session, run.id)}


def live_through(installation: World, run: Run, generator: random.Random) -> None:
    """A run with every kind of fate."""
    worker = installation.worker(slots=4)
    while (claim := installation.claim(worker)) is not None:
        fate = generator.random()
        if fate < 0.6:
            installation.score(claim, generator.choice([0.0, 0.25, 1.0]), steps=generator.randint(0, 2))
        elif fate < 0.8:
            installation.lose(claim, FailureClass.GUEST)
        else:
            installation.lose(claim, FailureClass.TASK_SETUP)
        if generator.random() < 0.1:
            installation.roll_up()


class TestStored:
    def test_equals_a_count_by_hand(self, installation: World) -> None:
        generator = random.Random(seed())  # noqa: S311 - a sample
        labels: list[dict[str, Any]] = [
            {"difficulty": "easy", "difficulty_source": "author", "apps": ("calc", "files")},
            {"difficulty": "hard", "difficulty_source": "author", "level": "L2"},
            {"requires": ("soffice",)},
        ]
        made = [make_task(domain=f"d{n % 2}", name=f"t{n}", **labels[n % 3]) for n in range(9)]
        installation.benchmark(make_benchmark(*made))
        installation.worker(slots=4)
        run = installation.submit(repeats=2)
        live_through(installation, run, generator)
        assert installation.roll_up() == 1
        expected, found = by_hand(installation, run), stored(installation, run)
        assert set(found) == set(expected)
        for key, cell in expected.items():
            row = found[key]
            assert (row.episodes, row.solved, row.lost) == (cell["episodes"], cell["solved"], cell["lost"]), key
            assert abs(row.score_sum - cell["score"]) < 1e-9
            counted = {"scored": row.scored, "not_runnable": row.not_runnable, "waiting": row.waiting}
            counted |= {"lost": sum(row.lost.values()), "running": row.running, "cancelled": row.cancelled}
            assert {state: n for state, n in counted.items() if n} == cell["states"]

    def test_does_nothing_when_nothing_changed(self, ready: World) -> None:
        ready.worker()
        run = ready.submit()
        assert ready.roll_up() == 1
        assert ready.roll_up() == 0
        ready.do(runs.cancel_run, run.id)
        assert ready.roll_up() == 1
        assert stored(ready, run)["all", ""].cancelled == 3

    def test_twice_is_the_same(self, ready: World) -> None:
        worker, run = ready.worker(), ready.submit()
        ready.score(ready.must_claim(worker), 0.5)
        ready.roll_up()
        once = {key: row.mean_low for key, row in stored(ready, run).items()}
        ready.do(lambda session: session.execute(update(Run).values(rollup_stale=True)))
        assert ready.roll_up() == 1
        assert {key: row.mean_low for key, row in stored(ready, run).items()} == once

    def test_a_retry_takes_lost_ones_out_again(self, ready: World) -> None:
        worker, run = ready.worker(), ready.submit(tasks=("files/a",))
        for _ in range(2):
            ready.lose(ready.must_claim(worker), FailureClass.TASK_SETUP)
        ready.roll_up()
        assert stored(ready, run)["all", ""].lost == {"task_setup": 1}
        ready.do(runs.retry_run, run.id)
        ready.roll_up()
        assert (stored(ready, run)["all", ""].lost, stored(ready, run)["all", ""].waiting) == ({}, 1)


class TestSummaries:
    def test_from_the_cube_and_from_the_episodes_are_equal(self, ready: World) -> None:
        worker, run = ready.worker(), ready.submit(repeats=2)
        for score in (1.0, 0.5, 0.0, 1.0):
            ready.score(ready.must_claim(worker), score)
        live = ready.do(summary, run)
        ready.roll_up()
        from_cube = ready.do(summary, run)
        assert from_cube == live == ready.do(runs.run_summary, run.id)

    def test_summaries_are_cut_by_dimension(self, ready: World) -> None:
        worker, run = ready.worker(), ready.submit()
        for score in (1.0, 0.0, 0.5):
            ready.score(ready.must_claim(worker), score)
        ready.roll_up()
        cells = {key: rollups.summary_of(row) for key, row in stored(ready, run).items()}
        assert cells["domain", "files"].mean_score == 0.5
        assert cells["domain", "editor"].counts_text == "1 of 1 episode scored"
        assert {key for dimension, key in cells if dimension == "app"} == {"pcmanfm"}
