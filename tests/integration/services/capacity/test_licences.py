"""Licences on a real PostgreSQL: never more in use than exist, none leaked, and waits have a reason."""

import random
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Lock
from uuid import UUID

import pytest

from backend.db.models import Run
from backend.db.repositories.capacity import workers as worker_repository
from backend.domain.errors import Invalid
from backend.domain.model.reason import ReasonCode
from backend.services.attempts import attempts
from backend.services.capacity import licences
from backend.services.lifecycle import lease_reaper
from backend.services.runs import runs
from backend.services.runs.views import home
from backend.services.runs.views.run_page import RunPageQuery, run_page
from backend.services.scheduling import claims
from backend.services.scheduling.claims import Claim
from tests.factories.records import World
from tests.factories.tasks import make_benchmark, make_task

PHOTOSHOP = {"Photoshop": 1}


def seats(world: World, name: str, number: int) -> None:
    with world.work() as session:
        _, actor = world.who(session)
        licences.set_seats(session, name, number, actor)


def used(world: World, name: str = "Photoshop") -> int:
    rows: list[licences.LicenceView] = world.do(licences.list_licences)
    return next(row.used for row in rows if row.name == name)


def licensed(world: World, needs: Mapping[str, int] | None = None, tasks: int = 3, **more: int) -> Run:
    """A run of tasks that all need the same licences."""
    for name, number in (more or PHOTOSHOP).items():
        seats(world, name, number)
    world.worker("offers")
    named = (make_task(name=f"t{number}", licences=needs or PHOTOSHOP) for number in range(tasks))
    world.benchmark(make_benchmark(*named))
    return world.submit()


class TestSeats:
    def test_no_more_attempts_than_seats(self, installation: World) -> None:
        licensed(installation)
        worker = installation.worker(slots=3)
        assert installation.claim(worker) is not None
        assert installation.claim(worker) is None
        assert used(installation) == 1

    def test_a_task_may_need_several(self, installation: World) -> None:
        licensed(installation, {"ANSYS": 2}, ANSYS=5)
        worker = installation.worker(slots=3)
        assert [installation.claim(worker) is not None for _ in range(3)] == [True, True, False]
        assert used(installation, "ANSYS") == 4

    def test_tasks_without_a_licence_are_not_blocked(self, installation: World) -> None:
        seats(installation, "Photoshop", 1)
        tasks = [make_task(name=f"a{number}", licences=PHOTOSHOP) for number in range(2)]
        installation.benchmark(make_benchmark(*tasks, make_task(name="plain")))
        worker = installation.worker(slots=3)
        installation.submit()
        keys = [str(installation.must_claim(worker).task.key) for _ in range(2)]
        assert keys == ["files/a0", "files/plain"]
        assert installation.claim(worker) is None

    def test_all_licences_of_a_task_must_be_free(self, installation: World) -> None:
        licensed(installation, {"Photoshop": 1, "Excel": 1}, tasks=2, Photoshop=2, Excel=1)
        worker = installation.worker(slots=2)
        assert installation.claim(worker) is not None
        assert installation.claim(worker) is None
        assert used(installation, "Photoshop") == 1

    def test_fewer_seats_end_no_attempt(self, installation: World) -> None:
        licensed(installation, Photoshop=2)
        worker = installation.worker(slots=3)
        claim = installation.must_claim(worker)
        seats(installation, "Photoshop", 0)
        assert used(installation) == 1
        assert installation.claim(worker) is None
        installation.score(claim)

    def test_wrong_numbers_and_names(self, installation: World) -> None:
        for name, number in (("", 1), ("x\n", -1), ("a\x00b", 1), ("x" * 300, 1), ("x", 10**9)):
            with pytest.raises(Invalid):
                seats(installation, name, number)


class TestGivenBack:
    @pytest.mark.parametrize("ending", ["scored", "lost", "cancelled", "lease released", "worker died"])
    def test_however_the_attempt_ends(self, installation: World, ending: str) -> None:
        run = licensed(installation)
        worker = installation.worker(slots=3)
        claim = installation.must_claim(worker)
        end(installation, claim, ending, run)
        assert used(installation) == 0
        if ending != "cancelled":
            other = worker if ending != "worker died" else installation.worker("w2", node="n2")
            assert installation.claim(other) is not None


def end(world: World, claim: Claim, ending: str, run: Run | None = None) -> None:
    """Ends an attempt in one of the ways in which attempts end."""
    if ending == "scored":
        world.score(claim)
    elif ending == "lost":
        world.lose(claim)
    elif ending == "cancelled" and run is not None:
        world.do(runs.cancel_run, run.id)
        world.do(attempts.finish_cancelled, claim.fence)
    elif ending == "lease released":
        world.do(claims.release_lease, claim.lease_id, "the worker was stopped")
    else:  # kill -9: no word from it, only its heartbeats are missing
        with world.work() as session:
            later = worker_repository.now(session) + timedelta(hours=1)
            assert lease_reaper.reap(session, later, lease_seconds=30) == [claim.attempt_id]


class TestManyAtOnce:
    def test_never_more_than_there_are_and_none_leaked(self, installation: World) -> None:
        """Eight workers on nodes of their own fight for three seats; attempts end in every way but the dead one."""
        licensed(installation, tasks=20, Photoshop=3)
        workers = [installation.worker(f"w{n}", node=f"n{n}", slots=1) for n in range(8)]
        chance, lock, most = random.Random(5), Lock(), [0]
        done: list[UUID] = []

        def work(number: int) -> None:
            for _ in range(200):
                claim = installation.claim(workers[number])
                if claim is None:
                    with lock:
                        if len(done) >= 20:
                            return
                    continue
                now = used(installation)
                with lock:
                    most[0] = max(most[0], now)
                    way = chance.choice(["scored", "scored", "lost", "lease released"])
                end(installation, claim, way)
                if way == "scored":
                    with lock:
                        done.append(claim.episode_id)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))
        assert 1 <= most[0] <= 3
        assert used(installation) == 0
        assert len(done) == len(set(done))

    def test_two_runs_race_for_the_last_seat(self, installation: World) -> None:
        licensed(installation, tasks=4)
        installation.submit()
        workers = [installation.worker(f"w{n}", node=f"n{n}", slots=1) for n in range(6)]
        with ThreadPoolExecutor(6) as pool:
            taken = [claim for claim in pool.map(installation.claim, workers) if claim is not None]
        assert len(taken) == 1


class TestWords:
    def test_waiting_run_names_the_licence(self, installation: World) -> None:
        run = licensed(installation)
        worker = installation.worker(slots=3)
        assert installation.do(run_page, run.id, RunPageQuery({})).waits == []
        installation.must_claim(worker)
        page = installation.do(run_page, run.id, RunPageQuery({}))
        assert page.waits == [("a licence of Photoshop, 1 of 1 in use", 2)]

    def test_home_page_names_the_licence(self, installation: World) -> None:
        licensed(installation)
        installation.must_claim(installation.worker(slots=3))
        queue = installation.do(home.home).queue
        assert [(wait.reason.code, wait.episodes) for wait in queue] == [(ReasonCode.LICENCE_IN_USE, 2)]

    def test_a_task_that_needs_more_than_there_are_is_not_runnable(self, installation: World) -> None:
        installation.benchmark(make_benchmark(make_task(licences={"ANSYS": 2})))
        installation.worker()
        run = installation.submit()
        page = installation.do(run_page, run.id, RunPageQuery({}))
        assert [(reason.code, number) for reason, number in page.not_runnable] == [(ReasonCode.LICENCE_MISSING, 1)]

    def test_episode_can_be_retried_when_seats_exist(self, installation: World) -> None:
        installation.benchmark(make_benchmark(make_task(licences=PHOTOSHOP)))
        worker = installation.worker()
        run = installation.submit()
        seats(installation, "Photoshop", 1)
        assert installation.do(runs.retry_run, run.id) == 1
        assert installation.must_claim(worker).run_id == run.id

    def test_the_list_names_what_tasks_need(self, installation: World) -> None:
        licensed(installation, {"ANSYS": 1, "Photoshop": 1}, tasks=2)
        rows = [(row.name, row.seats, row.used, row.tasks) for row in installation.do(licences.list_licences)]
        assert rows == [("ANSYS", 0, 0, 2), ("Photoshop", 1, 0, 2)]
