"""A large run's cube is computed outside its lock, now and then, and is exact in the end."""

import random
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from backend.db.models import Run
from backend.db.repositories.results import rollup_jobs as turns
from backend.db.repositories.results import rollups as repository
from backend.db.session import read_only
from backend.domain.model.episode import RunState
from backend.services.results import measure_rollups, rollup_jobs, rollups, run_summaries
from backend.services.results.run_summaries import summary
from backend.services.runs import runs
from backend.services.runs.summary import RunSummary
from backend.services.scheduling import claims
from tests.factories.records import World
from tests.sampling import seed


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run with more than one episode counts as large."""
    monkeypatch.setattr(run_summaries, "LARGE", 1)


def cube(world: World, run: Run) -> dict[tuple[str, str], tuple[Any, ...]]:
    with world.work() as session:
        rows = repository.of_run(session, run.id)
        return {
            (row.dimension, row.key): (row.scored, row.solved, row.waiting, row.running, row.mean_low) for row in rows
        }


def from_scratch(world: World, run: Run) -> dict[tuple[str, str], tuple[Any, ...]]:
    """The same of a computation that nothing came in between."""
    world.do(lambda session: rollups.store(session, run.id, rollups.compute(rollups.gather(session, run.id))))
    return cube(world, run)


def now(world: World, run: Run) -> Run:
    with world.work() as session:
        return session.get_one(Run, run.id)


def shown_summary(world: World, run: Run) -> RunSummary:
    with read_only(world.factory) as session:
        return summary(session, session.get_one(Run, run.id))


def set_run(world: World, run: Run, values: str) -> None:
    with world.work() as session:
        session.execute(text(f"UPDATE run SET {values} WHERE id = :id"), {"id": run.id})  # noqa: S608 - a test's words


@pytest.fixture
def between(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Callable[[], None]]]:
    """An event after the cube was read and before it is stored."""
    todo: list[Callable[[], None]] = []
    real = rollups.compute

    def compute(
        gathered: rollups.RollupInputs, cells: measure_rollups.Cells | None = None, *, by_task: bool = False
    ) -> rollups.RollupRows:
        for act in todo if cells is None and not by_task else ():
            act()
        return real(gathered, cells, by_task=by_task)

    monkeypatch.setattr(rollups, "compute", compute)
    yield todo
    monkeypatch.undo()


class TestRenew:
    def test_stores_what_a_computation_from_scratch_gives(self, ready: World) -> None:
        worker, run = ready.worker(), ready.submit()
        ready.score(ready.must_claim(worker), 0.5)
        assert rollup_jobs.renew(ready.factory, run.id) is True
        renewed = cube(ready, run)
        assert from_scratch(ready, run) == renewed

    def test_does_nothing_when_nothing_changed(self, ready: World) -> None:
        _, run = ready.worker(), ready.submit()
        assert [rollup_jobs.renew(ready.factory, run.id) for _ in range(2)] == [True, False]
        found = now(ready, run)
        assert (found.rollup_stale, found.rollup_started_at) == (False, None)
        assert found.rollup_seconds is not None

    def test_work_during_a_renewal_is_in_the_next_one(self, ready: World, between: list[Callable[[], None]]) -> None:
        worker, run = ready.worker(), ready.submit()
        between.append(lambda: ready.score(ready.must_claim(worker)))
        assert rollup_jobs.renew(ready.factory, run.id) is True
        assert cube(ready, run)["all", ""][0] == 0
        assert now(ready, run).rollup_stale
        between.clear()
        set_run(ready, run, "rollup_as_of = rollup_as_of - interval '1 hour'")
        assert rollup_jobs.renew(ready.factory, run.id) is True
        assert cube(ready, run)["all", ""][0] == 1

    def test_only_one_computes(self, ready: World, between: list[Callable[[], None]]) -> None:
        _, run = ready.worker(), ready.submit()
        second: list[bool] = []
        between.append(lambda: second.append(rollup_jobs.renew(ready.factory, run.id)))
        assert rollup_jobs.renew(ready.factory, run.id) is True
        assert second == [False]

    def test_is_repeated_for_a_tenth_of_the_time_at_most(self, ready: World) -> None:
        worker, run = ready.worker(), ready.submit()
        rollup_jobs.renew(ready.factory, run.id)
        ready.score(ready.must_claim(worker))
        set_run(ready, run, "rollup_seconds = 100, rollup_as_of = now() - interval '900 seconds'")
        assert rollup_jobs.renew_due(ready.factory) == 0
        set_run(ready, run, "rollup_as_of = now() - interval '1001 seconds'")
        assert rollup_jobs.renew_due(ready.factory) == 1

    def test_the_end_of_a_run_is_not_waited_with(self, ready: World) -> None:
        _, run = ready.worker(), ready.submit()
        rollup_jobs.renew(ready.factory, run.id)
        set_run(ready, run, "rollup_seconds = 100")
        ready.do(runs.cancel_run, run.id)
        assert rollup_jobs.renew_due(ready.factory) == 1
        assert now(ready, run).rollup_stale is False

    def test_an_abandoned_turn_is_taken_over_and_its_result_dropped(
        self, ready: World, between: list[Callable[[], None]]
    ) -> None:
        worker, run = ready.worker(), ready.submit()
        took: list[bool] = []

        def takes_over() -> None:
            between.clear()
            ready.score(ready.must_claim(worker))
            set_run(ready, run, "rollup_started_at = rollup_started_at - interval '1 hour'")
            took.append(rollup_jobs.renew(ready.factory, run.id))

        between.append(takes_over)
        assert rollup_jobs.renew(ready.factory, run.id) is False
        assert took == [True]
        assert cube(ready, run)["all", ""][0] == 1

    def test_a_turn_that_failed_is_given_back(self, ready: World, between: list[Callable[[], None]]) -> None:
        def fails() -> None:
            raise ZeroDivisionError

        _, run = ready.worker(), ready.submit()
        between.append(fails)
        with pytest.raises(ZeroDivisionError):
            rollup_jobs.renew(ready.factory, run.id)
        found = now(ready, run)
        assert (found.rollup_stale, found.rollup_started_at) == (True, None)

    def test_failing_run_does_not_block_the_others(self, ready: World, between: list[Callable[[], None]]) -> None:
        def fails_once() -> None:
            between.clear()
            raise ZeroDivisionError

        ready.worker()
        submitted = [ready.submit() for _ in range(2)]
        between.append(fails_once)
        assert rollup_jobs.renew_due(ready.factory) == 1
        assert sorted(now(ready, run).rollup_stale for run in submitted) == [False, True]

    def test_is_exact_in_the_end_whatever_came_in_between(
        self, ready: World, between: list[Callable[[], None]]
    ) -> None:
        generator = random.Random(seed())  # noqa: S311 - a sample
        worker, run = ready.worker(slots=4), ready.submit(repeats=4)

        def lives() -> None:
            for _ in range(generator.randint(0, 3)):
                claim = ready.claim(worker)
                if claim is not None:
                    ready.score(claim, generator.choice([0.0, 0.5, 1.0]))

        between.append(lives)
        while now(ready, run).state != RunState.COMPLETED:
            set_run(ready, run, "rollup_as_of = NULL, rollup_stale = true")  # Also where nothing came in between.
            rollup_jobs.renew(ready.factory, run.id)
        between.clear()
        rollup_jobs.renew_due(ready.factory)
        renewed = cube(ready, run)
        assert from_scratch(ready, run) == renewed


@pytest.mark.usefixtures("large")
class TestLargeRuns:
    def test_show_the_stored_cube_until_they_end(self, ready: World) -> None:
        worker, run = ready.worker(), ready.submit(tasks=("files/a", "files/b"))
        rollup_jobs.renew(ready.factory, run.id)
        ready.score(ready.must_claim(worker))
        shown = shown_summary(ready, run)
        assert (shown.counts.scored, shown.as_of) == (0, now(ready, run).rollup_as_of)
        ready.score(ready.must_claim(worker))
        assert now(ready, run).rollup_stale
        shown = shown_summary(ready, run)
        assert (shown.counts.scored, shown.as_of) == (2, None)

    def test_are_never_computed_for_a_list(self, ready: World) -> None:
        """After an upgrade every cube is out of date: a list of large runs would take minutes."""
        worker, run = ready.worker(), ready.submit(tasks=("files/a", "files/b"))
        for _ in range(2):
            ready.score(ready.must_claim(worker))
        rollup_jobs.renew(ready.factory, run.id)
        set_run(ready, run, "rollup_stale = true")
        with read_only(ready.factory) as session:
            listed = run_summaries.summaries(session, [session.get_one(Run, run.id)])[run.id]
        assert (listed.counts.scored, listed.as_of) == (2, now(ready, run).rollup_as_of)

    def test_say_of_no_time_while_their_cube_is_up_to_date(self, ready: World) -> None:
        worker, run = ready.worker(), ready.submit(tasks=("files/a", "files/b"))
        ready.score(ready.must_claim(worker))
        rollup_jobs.renew(ready.factory, run.id)
        shown = shown_summary(ready, run)
        assert (shown.counts.scored, shown.counts.waiting, shown.as_of) == (1, 1, None)

    def test_are_exact_before_their_first_cube(self, ready: World) -> None:
        _, run = ready.worker(), ready.submit()
        assert shown_summary(ready, run).counts.waiting == 3


class TestLocks:
    def test_the_runs_lock_is_free_while_the_cube_is_computed(
        self, ready: World, between: list[Callable[[], None]]
    ) -> None:
        def at_once(session: Session) -> None:
            session.execute(text("SET LOCAL lock_timeout = '1ms'"))
            assert session.scalar(select(Run.id).where(Run.id == run.id).with_for_update(key_share=True))

        worker, run = ready.worker(), ready.submit()
        between.append(lambda: ready.do(at_once))
        between.append(lambda: ready.do(claims.release_lease, ready.must_claim(worker).lease_id, "done"))
        assert rollup_jobs.renew(ready.factory, run.id) is True

    def test_a_turn_has_a_time(self, ready: World) -> None:
        _, run = ready.worker(), ready.submit()
        began = ready.do(turns.begin, run.id)
        assert isinstance(began, datetime)
        assert ready.do(turns.begin, run.id) is None
        assert ready.do(turns.end, run.id, began - timedelta(seconds=1), 1.0) is False
        assert ready.do(turns.end, run.id, began, 1.0) is True


def test_a_slow_snapshot_is_not_ended_as_idle(installation: World) -> None:
    def idle(session: Session) -> str:
        return str(session.scalar(text("SHOW idle_in_transaction_session_timeout")))

    before = installation.do(idle)
    with installation.work() as session:
        turns.one_snapshot(session)
        assert idle(session) == "1min"
    assert installation.do(idle) == before != "1min"
