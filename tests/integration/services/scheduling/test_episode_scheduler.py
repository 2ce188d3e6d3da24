"""Who gets the next slot, on a real PostgreSQL: in batches, from many threads at once, within every bound."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from uuid import UUID

import pytest
from sqlalchemy import func, select, text, update
from sqlalchemy.orm import Session

from backend.config import get_settings
from backend.db.models import Attempt, Episode, Lease, Project, Run, Worker
from backend.db.repositories.scheduling import scheduler
from backend.domain.errors import FailureClass
from backend.domain.scheduling.usage import decay_usage
from backend.services import events
from backend.services.scheduling import claims, episode_scheduler, maintenance
from backend.services.scheduling.claims import Claim
from tests.factories.claims import LIMITED
from tests.factories.records import World, capabilities
from tests.factories.tasks import make_benchmark, make_task
from tests.waiting import until


@pytest.fixture
def queued(installation: World) -> World:
    """An installation with a benchmark of 12 tasks."""
    installation.benchmark(make_benchmark(*(make_task(name=f"t{n:02}") for n in range(12))))
    return installation


def take(world: World, worker: Worker, number: int) -> list[Claim]:
    found: list[Claim] = world.do(claims.claim_many, worker.id, "local", number)
    return found


def owners(world: World, worker: Worker, number: int) -> Counter[UUID]:
    return Counter(claim.run_id for claim in take(world, worker, number))


def in_project(world: World, run: Run, name: str, **rules: object) -> None:
    """Moves a run into a new project with these rules."""
    with world.work() as session:
        project = session.scalar(select(Project).where(Project.name == name)) or Project(name=name)
        session.add(project)
        for key, value in rules.items():
            setattr(project, key, value)
        session.flush()
        session.execute(update(Run).where(Run.id == run.id).values(project_id=project.id))


def set_run(world: World, run: Run, **values: object) -> None:
    with world.work() as session:
        session.execute(update(Run).where(Run.id == run.id).values(**values))


def counted(world: World) -> bool:
    """Whether what the scheduler counts by is what the episodes say."""
    return not world.do(scheduler.miscounted_runs)


def _blocked(session: Session) -> bool:
    """Whether somebody waits for a row that another has locked."""
    waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype IN ('transactionid', 'tuple')"
    return bool(session.scalar(text(waiting)))


@contextmanager
def reserved(monkeypatch: pytest.MonkeyPatch, number: str) -> Iterator[None]:
    monkeypatch.setenv("DESKARENA_RESERVED_SLOTS", number)
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


class TestClaimMany:
    def test_gives_each_a_slot_a_lease_and_an_attempt_of_its_own(self, queued: World) -> None:
        worker, run = queued.worker(slots=5), queued.submit()
        found = take(queued, worker, 4)
        assert (
            len(found) == len({claim.episode_id for claim in found}) == len({claim.slot.index for claim in found}) == 4
        )
        assert {claim.run_id for claim in found} == {run.id}
        with queued.work() as session:
            rows = session.execute(select(Attempt, Lease).join(Lease, Lease.id == Attempt.lease_id)).all()
            tokens = {(row.Attempt.id, row.Lease.fencing_token) for row in rows}
            assert tokens == {(claim.attempt_id, claim.fence.token) for claim in found}
            assert session.get_one(Run, run.id).in_use == 4
        assert counted(queued)

    def test_events_are_in_order_without_a_gap(self, queued: World) -> None:
        worker, run = queued.worker(slots=3), queued.submit()
        take(queued, worker, 3)
        with queued.work() as session:
            told = [(row.seq, row.kind) for row in events.list_after(session, run.id)]
        assert [seq for seq, _ in told] == list(range(1, len(told) + 1))
        assert Counter(kind for _, kind in told) == Counter(
            run_submitted=1, run_state=1, episode_state=3, attempt_started=3
        )

    def test_gives_what_there_is(self, queued: World) -> None:
        worker = queued.worker(slots=3)
        assert take(queued, worker, 5) == []
        queued.submit()
        assert len(take(queued, worker, 5)) == 3
        assert take(queued, worker, 5) == []

    def test_leaves_no_lease_behind_without_work(self, queued: World) -> None:
        take(queued, queued.worker(), 5)
        with queued.work() as session:
            assert session.scalar(select(func.count()).select_from(Lease)) == 0

    def test_a_finished_attempt_frees_its_runs_place(self, queued: World) -> None:
        worker, run = queued.worker(slots=3), queued.submit()
        first, second, _ = take(queued, worker, 3)
        queued.score(first)
        queued.lose(second)
        with queued.work() as session:
            assert session.get_one(Run, run.id).in_use == 1
        assert counted(queued)


class TestOrder:
    def test_projects_share_by_weight_then_their_runs(self, queued: World) -> None:
        worker = queued.worker(slots=8)
        one, two, other = queued.submit(), queued.submit(), queued.submit()
        in_project(queued, other, "other", weight=3.0)
        assert owners(queued, worker, 8) == {one.id: 1, two.id: 1, other.id: 6}

    def test_a_higher_priority_comes_first_whatever_the_shares(self, queued: World) -> None:
        worker = queued.worker(slots=20)
        low, high = queued.submit(), queued.submit()
        set_run(queued, high, priority=1)
        assert owners(queued, worker, 14) == {high.id: 12, low.id: 2}

    def test_a_run_that_waited_long_enough_gets_a_turn(self, queued: World) -> None:
        worker = queued.worker(slots=20)
        low, high = queued.submit(), queued.submit()
        set_run(queued, high, priority=1)
        set_run(queued, low, last_scheduled_at=text("now() - interval '20 minutes'"))
        assert owners(queued, worker, 3) == {high.id: 2, low.id: 1}

    def test_the_longest_expected_comes_first_within_a_repeat(self, queued: World) -> None:
        worker, _ = queued.worker(slots=3), queued.submit(repeats=2)
        with queued.work() as session:
            task = session.scalars(select(Episode.task_id).order_by(Episode.id).offset(7)).first()
            session.execute(update(Episode).where(Episode.task_id == task).values(estimated_seconds=5000.0))
        found = take(queued, worker, 3)
        assert [claim.task.key.name for claim in found] == ["t07", "t00", "t01"]

    def test_a_task_s_last_duration_is_its_next_estimate(self, queued: World) -> None:
        worker, _ = queued.worker(slots=3), queued.submit(tasks=("*/t03", "*/t05"))
        for claim in take(queued, worker, 2):
            queued.score(claim)
            slow = "5 minutes" if claim.task.key.name == "t05" else "1 minute"
            with queued.work() as session:
                began = text(f"ended_at - interval '{slow}'")
                session.execute(update(Attempt).where(Attempt.id == claim.attempt_id).values(started_at=began))
        again = queued.submit(tasks=("*/t03", "*/t05"))
        with queued.work() as session:
            query = select(Episode.estimated_seconds).where(Episode.run_id == again.id).order_by(Episode.id)
            assert list(session.scalars(query)) == [60.0, 300.0]
        assert [claim.task.key.name for claim in take(queued, worker, 2)] == ["t05", "t03"]


class TestBounds:
    def test_a_run_keeps_to_its_own_limit(self, queued: World) -> None:
        worker, run = queued.worker(slots=9), queued.submit()
        set_run(queued, run, concurrency=2)
        first, _ = take(queued, worker, 9)
        assert take(queued, worker, 9) == []
        queued.score(first)
        assert len(take(queued, worker, 9)) == 1

    def test_a_project_keeps_to_its_quotas_over_all_its_runs(self, queued: World) -> None:
        worker = queued.worker(slots=9)
        for run in (queued.submit(), queued.submit()):
            in_project(queued, run, "small", quota={"all": 3})
        assert len(take(queued, worker, 9)) == 3
        assert take(queued, worker, 9) == []

    def test_reserved_slots_stay_free_for_people(self, queued: World, monkeypatch: pytest.MonkeyPatch) -> None:
        worker, run = queued.worker(slots=4), queued.submit()
        with reserved(monkeypatch, "25%"):
            assert owners(queued, worker, 9) == {run.id: 3}
            person = queued.submit(agent="random")
            with queued.work() as session:
                session.execute(text("UPDATE agent_configuration SET human = true WHERE name = 'random'"))
            assert owners(queued, worker, 9) == {person.id: 1}

    def test_a_worker_continues_with_its_own_slot_though_the_others_are_reserved(
        self, queued: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        worker, _ = queued.worker(slots=2), queued.submit()
        with reserved(monkeypatch, "50%"):
            (claim,) = take(queued, worker, 9)
            queued.run_to_evaluation(claim)
            queued.score_only(claim)
            assert queued.do(claims.claim_next, claim.lease_id) is not None

    def test_reserved_slots_wait_for_the_projects_next_run(self, queued: World) -> None:
        worker, run = queued.worker(slots=4), queued.submit()
        with queued.work() as session:
            session.add(Project(name="lab", reserved={"local": 1}))
        assert owners(queued, worker, 9) == {run.id: 3}

    def test_run_waiting_for_its_model_starts_no_more_attempts(self, queued: World) -> None:
        worker, run = queued.worker(slots=9), queued.submit()
        (claim,) = take(queued, worker, 1)
        waits = {claim.lease_id: LIMITED}
        queued.do(claims.worker_heartbeat, worker.id, [claim.lease_id], waits)
        assert take(queued, worker, 9) == []
        queued.do(claims.worker_heartbeat, worker.id, [claim.lease_id], {})
        assert owners(queued, worker, 2) == {run.id: 2}


class TestAtOnce:
    def test_a_run_that_somebody_holds_keeps_nobody_waiting(self, queued: World) -> None:
        worker = queued.worker(slots=4)
        held, other = queued.submit(), queued.submit()
        with queued.work() as session:
            session.execute(text("SELECT FROM run WHERE id = :id FOR UPDATE"), {"id": held.id})
            assert owners(queued, worker, 2) == {other.id: 2}
        assert held.id in owners(queued, worker, 2)

    def test_a_run_that_is_held_for_a_moment_is_waited_for_where_no_other_may_begin(
        self, queued: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(episode_scheduler, "PATIENCE_MS", 10_000)
        worker, full = queued.worker(slots=4), queued.submit()
        set_run(queued, full, concurrency=1)
        take(queued, worker, 1)
        held = queued.submit()
        with ThreadPoolExecutor(1) as pool, queued.work() as session:
            session.execute(text("SELECT FROM run WHERE id = :id FOR UPDATE"), {"id": held.id})
            waiting = pool.submit(owners, queued, worker, 2)
            until(lambda: queued.do(_blocked))
            session.commit()
            assert waiting.result() == {held.id: 2}

    def test_a_run_that_is_held_for_a_moment_has_its_share_of_the_slots_of_one_transaction(
        self, queued: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(episode_scheduler, "PATIENCE_MS", 10_000)
        worker, held, other = queued.worker(slots=4), queued.submit(), queued.submit()
        with ThreadPoolExecutor(1) as pool, queued.work() as session:
            session.execute(text("SELECT FROM run WHERE id = :id FOR UPDATE"), {"id": held.id})
            waiting = pool.submit(owners, queued, worker, 4)
            until(lambda: queued.do(_blocked))
            session.commit()
            assert waiting.result() == {held.id: 2, other.id: 2}

    def test_a_run_that_is_held_for_a_moment_is_waited_for_where_the_other_has_no_episode_for_this_worker(
        self, queued: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(episode_scheduler, "PATIENCE_MS", 10_000)
        worker, held, other = queued.worker(slots=4), queued.submit(), queued.submit()
        with queued.work() as session:
            session.execute(text("UPDATE episode SET requirements_id = NULL WHERE run_id = :id"), {"id": other.id})
        with ThreadPoolExecutor(1) as pool, queued.work() as session:
            session.execute(text("SELECT FROM run WHERE id = :id FOR UPDATE"), {"id": held.id})
            waiting = pool.submit(owners, queued, worker, 2)
            until(lambda: queued.do(_blocked) or waiting.done())
            session.commit()
            assert waiting.result() == {held.id: 2}

    def test_a_run_that_is_held_for_a_moment_is_waited_for_where_the_other_is_less_urgent(
        self, queued: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(episode_scheduler, "PATIENCE_MS", 10_000)
        worker, held, _ = queued.worker(slots=2), queued.submit(priority=1), queued.submit()
        with ThreadPoolExecutor(1) as pool, queued.work() as session:
            session.execute(text("SELECT FROM run WHERE id = :id FOR UPDATE"), {"id": held.id})
            waiting = pool.submit(owners, queued, worker, 2)
            until(lambda: queued.do(_blocked) or waiting.done())
            session.commit()
            assert waiting.result() == {held.id: 2}

    def test_a_run_that_is_held_for_a_moment_is_waited_for_where_its_equal_is_full_and_the_other_less_urgent(
        self, queued: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(episode_scheduler, "PATIENCE_MS", 10_000)
        worker, full = queued.worker(slots=4), queued.submit(priority=1)
        set_run(queued, full, concurrency=1)
        take(queued, worker, 1)
        held, _ = queued.submit(priority=1), queued.submit()
        with ThreadPoolExecutor(1) as pool, queued.work() as session:
            session.execute(text("SELECT FROM run WHERE id = :id FOR UPDATE"), {"id": held.id})
            waiting = pool.submit(owners, queued, worker, 2)
            until(lambda: queued.do(_blocked) or waiting.done())
            session.commit()
            assert waiting.result() == {held.id: 2}

    def test_the_only_run_is_waited_for_a_moment_then_left(self, queued: World) -> None:
        worker, run = queued.worker(slots=4), queued.submit()
        with queued.work() as session:
            session.execute(text("SELECT FROM run WHERE id = :id FOR UPDATE"), {"id": run.id})
            assert take(queued, worker, 2) == []
        assert len(take(queued, worker, 2)) == 2

    def test_concurrent_claims_are_unique_and_within_limits(self, queued: World) -> None:
        workers = [queued.worker(f"w{n}", node=f"n{n}", slots=6, pid=n + 1) for n in range(6)]
        bounded, quoted, free = queued.submit(repeats=2), queued.submit(repeats=2), queued.submit(repeats=2)
        set_run(queued, bounded, concurrency=3)
        in_project(queued, quoted, "small", quota={"local": 4})
        most: Counter[UUID] = Counter()

        def work(worker: Worker) -> list[UUID]:
            done: list[UUID] = []
            while found := take(queued, worker, 3):
                with queued.work() as session:
                    for run, number in session.execute(select(Run.id, Run.in_use)):
                        most[run] = max(most[run], number)
                for number, claim in enumerate(found):
                    if number == 1 and claim.attempt_number == 1:
                        queued.lose(claim, FailureClass.CLUSTER)
                        continue
                    queued.score(claim, steps=0)
                    done.append(claim.episode_id)
            return done

        with ThreadPoolExecutor(6) as pool:
            done = [episode for part in pool.map(work, workers) for episode in part]
        done += work(workers[0])
        assert len(done) == len(set(done)) == 72
        assert most[bounded.id] <= 3
        assert most[quoted.id] <= 4
        assert counted(queued)
        with queued.work() as session:
            assert set(session.scalars(select(Run.state))) == {"completed"}
            assert session.get_one(Run, free.id).in_use == 0


class TestUpkeep:
    def test_rows_of_an_older_release_are_completed(self, queued: World) -> None:
        worker, run = queued.worker(slots=4), queued.submit()
        with queued.work() as session:
            session.execute(text("UPDATE episode SET requirements_id = NULL"))
            session.execute(text("UPDATE run SET in_use = 7"))
        assert take(queued, worker, 4) == []
        maintenance.tend(queued.factory)
        maintenance.keep_schedule(queued.factory)
        assert counted(queued)
        assert owners(queued, worker, 4) == {run.id: 4}

    def test_expected_seconds_are_looked_at_again(self, queued: World) -> None:
        worker, _ = queued.worker(slots=1), queued.submit(tasks=("*/t03",))
        (claim,) = take(queued, worker, 1)
        waiting = queued.submit(tasks=("*/t03",))
        queued.score(claim)
        with queued.work() as session:
            session.execute(text("UPDATE attempt SET started_at = ended_at - interval '77 seconds'"))
            session.execute(text("UPDATE run SET estimates_updated_at = now() - interval '2 minutes'"))
        maintenance.keep_schedule(queued.factory)
        with queued.work() as session:
            assert session.scalar(select(Episode.estimated_seconds).where(Episode.run_id == waiting.id)) == 77.0


class TestUsage:
    def test_the_database_reckons_as_the_rules_do(self, queued: World) -> None:
        _, run = queued.worker(), queued.submit()
        set_run(queued, run, in_use=4, usage_seconds=900.0, usage_updated_at=text("now() - interval '30 minutes'"))
        with queued.work() as session:
            scheduler.count_ended(session, run.id, 1)
            row = session.execute(select(Run.usage_seconds, Run.in_use).where(Run.id == run.id)).one()
        assert row.usage_seconds == pytest.approx(decay_usage(900.0, 4, 1800.0), rel=0.02)
        assert row.in_use == 3


class TestCapabilities:
    def test_runs_for_other_workers_do_not_block(self, installation: World) -> None:
        installation.benchmark(
            make_benchmark(*(make_task(name=f"g{n}", requires=("gimp",)) for n in range(3))), name="a"
        )
        installation.benchmark(make_benchmark(make_task(name="plain")), name="b")
        poor = installation.worker("poor", node="n1", slots=3, capabilities=capabilities(()))
        able = installation.worker("able", node="n2", slots=3, pid=2, capabilities=capabilities(("gimp",)))
        elsewhere, here = installation.submit(benchmark="a"), installation.submit(benchmark="b")
        assert owners(installation, poor, 3) == {here.id: 1}
        assert owners(installation, able, 3) == {elsewhere.id: 3}
