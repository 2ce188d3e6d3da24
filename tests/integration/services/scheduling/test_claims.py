"""Claims on a real PostgreSQL, also from many threads at once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import select

from backend.db.models import Attempt, Episode, Lease, Run, Slot, Worker
from backend.db.repositories.capacity import workers as worker_repository
from backend.domain.errors import LeaseLost
from backend.domain.machines.slots import SlotRef
from backend.domain.model.episode import EpisodeState
from backend.services.runs import runs
from backend.services.scheduling import claims
from tests.factories.claims import LIMITED
from tests.factories.records import World, capabilities
from tests.factories.tasks import make_benchmark, make_task


class TestLease:
    def test_gives_a_larger_token_every_time(self, ready: World) -> None:
        worker = ready.worker(slots=3)
        ready.submit()
        tokens = [ready.must_claim(worker).fence.token for _ in range(3)]
        assert tokens == sorted(set(tokens))

    def test_no_claim_without_a_free_slot(self, ready: World) -> None:
        worker = ready.worker(slots=1)
        ready.submit()
        assert ready.claim(worker) is not None
        assert ready.claim(worker) is None

    def test_leaves_nothing_behind_without_work(self, ready: World) -> None:
        worker = ready.worker()
        assert ready.claim(worker) is None
        with ready.work() as session:
            assert session.scalars(select(Lease)).all() == []

    def test_no_claim_for_a_draining_worker(self, ready: World) -> None:
        worker = ready.worker()
        ready.submit()
        ready.do(claims.drain, worker.id)
        assert ready.claim(worker) is None

    def test_no_claim_on_a_broken_slot(self, ready: World) -> None:
        worker = ready.worker(slots=1)
        ready.submit()
        with ready.work() as session:
            session.scalars(select(Slot)).one().state = "broken"
        assert ready.claim(worker) is None


class TestClaim:
    def test_gives_all_that_a_worker_needs(self, ready: World) -> None:
        worker, run = ready.worker(), ready.submit(seed=7, repeats=2)
        claim = ready.must_claim(worker)
        assert (claim.run_id, claim.attempt_number, claim.provider, claim.slot) == (run.id, 1, "local", SlotRef(0))
        assert str(claim.task.key) == "files/a"
        assert claim.config.seed == 7
        assert claim.config.observation == "screenshot"
        with ready.work() as session:
            attempt = session.get_one(Attempt, claim.attempt_id)
            assert (attempt.state, attempt.live, attempt.worker_id) == ("preparing", True, worker.id)
            assert session.get_one(Episode, claim.episode_id).seed == claim.seed
            assert session.get_one(Run, run.id).state == "running"

    def test_takes_assets_along(self, installation: World) -> None:
        installation.benchmark(make_benchmark(make_task(), assets={"report.txt": b"x"}))
        worker = installation.worker()
        installation.submit()
        assert set(installation.must_claim(worker).assets) == {"report.txt"}

    def test_goes_through_first_repeats_first(self, ready: World) -> None:
        worker = ready.worker(slots=6)
        ready.submit(repeats=2)
        keys = [str(ready.must_claim(worker).task.key) for _ in range(6)]
        assert keys == ["files/a", "files/b", "editor/c"] * 2
        assert ready.claim(worker) is None

    def test_leaves_what_this_worker_lacks_programs_for(self, installation: World) -> None:
        installation.benchmark(make_benchmark(make_task(requires=("gimp",)), make_task(name="other")))
        able = installation.worker("able", node="n2", capabilities=capabilities(("gimp",)))
        poor = installation.worker("poor", node="n3", capabilities=capabilities(()))
        installation.submit()
        assert installation.must_claim(poor).task.key.name == "other"
        assert installation.claim(poor) is None
        assert installation.must_claim(able).task.key.name == "rename"

    def test_leaves_runs_whose_image_this_worker_lacks(self, installation: World) -> None:
        def worker(name: str, *images: str) -> Worker:
            offer = {"ok": True, "programs": ["mousepad"], "images": [{"name": image} for image in images]}
            able = capabilities() | {"providers": {"local": offer}}
            return installation.worker(name, node=name, capabilities=able)

        installation.benchmark(make_benchmark(make_task()))
        plain, poor, able = worker("plain"), worker("poor", "debian"), worker("able", "debian", "full")
        installation.submit(desktop_image="full")
        assert installation.claim(plain) is None
        assert installation.claim(poor) is None
        assert installation.must_claim(able).image == "full"

    def test_names_the_image_that_fits_the_task(self, installation: World) -> None:
        images = [{"name": "debian"}, {"name": "eleven", "os": "windows"}]
        offer = {"ok": True, "programs": ["mousepad"], "images": images}
        installation.benchmark(make_benchmark(make_task()))
        worker = installation.worker(capabilities=capabilities() | {"providers": {"local": offer}})
        installation.submit()
        assert installation.must_claim(worker).image == "debian"

    def test_leaves_paused_runs(self, ready: World) -> None:
        worker, run = ready.worker(), ready.submit()
        ready.do(runs.pause_run, run.id)
        assert ready.claim(worker) is None
        ready.do(runs.resume_run, run.id)
        assert ready.claim(worker) is not None

    def test_leaves_episodes_whose_time_has_not_come(self, ready: World) -> None:
        worker = ready.worker()
        ready.submit()
        with ready.work() as session:
            later = worker_repository.now(session) + timedelta(minutes=1)
            for episode in session.scalars(select(Episode)):
                episode.available_at = later
        assert ready.claim(worker) is None

    def test_shares_slots_fairly_between_two_runs(self, ready: World) -> None:
        worker = ready.worker(slots=4)
        first, second = ready.submit(repeats=5), ready.submit(repeats=5)
        owners = [ready.must_claim(worker).run_id for _ in range(4)]
        assert sorted(owners) == sorted([first.id, first.id, second.id, second.id])

    def test_refuses_a_lease_in_use(self, ready: World) -> None:
        worker = ready.worker()
        ready.submit()
        claim = ready.must_claim(worker)
        with pytest.raises(LeaseLost):
            ready.do(claims.claim_next, claim.lease_id)

    def test_uses_a_lease_again_after_its_attempt(self, ready: World) -> None:
        worker = ready.worker(slots=1)
        ready.submit()
        claim = ready.must_claim(worker)
        ready.run_to_evaluation(claim)
        ready.score_only(claim)
        again = ready.do(claims.claim_next, claim.lease_id)
        assert again is not None
        assert again.episode_id != claim.episode_id

    def test_a_new_attempt_does_not_inherit_the_wait_of_the_last(self, ready: World) -> None:
        worker = ready.worker(slots=1)
        ready.submit()
        claim = ready.must_claim(worker)
        ready.do(claims.worker_heartbeat, worker.id, [claim.lease_id], {claim.lease_id: LIMITED})
        ready.run_to_evaluation(claim)
        ready.score_only(claim)
        assert ready.do(claims.claim_next, claim.lease_id) is not None
        with ready.work() as session:
            assert session.get_one(Lease, claim.lease_id).wait_reason == ""
            assert session.get_one(Lease, claim.lease_id).model_wait is None

    def test_many_threads_never_take_one_twice(self, installation: World) -> None:
        installation.benchmark(make_benchmark(*(make_task(name=f"t{n}") for n in range(30))))
        workers = [installation.worker(f"w{n}", node=f"n{n}", slots=8) for n in range(8)]
        installation.submit(repeats=1)
        installation.submit(repeats=1)

        def drain_queue(worker: Worker) -> list[UUID]:
            taken = []
            while (claim := installation.claim(worker)) is not None:
                taken.append(claim.episode_id)
            return taken

        with ThreadPoolExecutor(8) as pool:
            taken = [episode for part in pool.map(drain_queue, workers) for episode in part]
        assert len(taken) == len(set(taken)) == 60

    def test_many_threads_share_fairly(self, installation: World) -> None:
        installation.benchmark(make_benchmark(*(make_task(name=f"t{n}") for n in range(20))))
        workers = [installation.worker(f"w{n}", node=f"n{n}", slots=1) for n in range(8)]
        first, second = installation.submit(), installation.submit()
        with ThreadPoolExecutor(8) as pool:
            owners = [claim.run_id for claim in pool.map(installation.must_claim, workers)]
        assert owners.count(first.id) == owners.count(second.id) == 4

    def test_an_episode_has_one_live_attempt_at_most(self, ready: World) -> None:
        worker = ready.worker()
        ready.submit()
        ready.must_claim(worker)
        ready.must_claim(worker)
        with ready.work() as session:
            running = session.scalars(select(Episode).where(Episode.state == EpisodeState.RUNNING.value)).all()
            assert len(running) == len(session.scalars(select(Attempt).where(Attempt.live)).all()) == 2
