"""Signals for autoscalers: correct counts, by cheap queries."""

from datetime import timedelta
from functools import partial

from sqlalchemy import text, update

from backend.db.models import Episode, Project, Run, Worker
from backend.db.repositories.capacity import workers
from backend.domain.errors import FailureClass
from backend.domain.machines.nodes import NodeState
from backend.services.capacity import nodes
from backend.services.monitoring.cached_read import CachedRead, of_installation
from backend.services.scheduling import autoscaling_signals
from backend.services.scheduling.autoscaling_signals import Signals
from tests.factories.records import World
from tests.factories.tasks import make_benchmark, make_task
from tests.integration.services.capacity.test_licences import seats
from tests.integration.services.capacity.test_nodes import ZONE, claimed, observe, seen, serving


def gathered(world: World) -> Signals:
    found: Signals = world.do(autoscaling_signals.gather)
    return found


class TestGather:
    def test_an_empty_installation_has_none(self, installation: World) -> None:
        found = gathered(installation)
        assert (found.providers, dict(found.lost), dict(found.workers)) == ([], {}, {})

    def test_a_worker_whose_clock_is_ahead_was_heard_now(self, installation: World) -> None:
        worker = installation.worker()
        with installation.work() as session:
            ahead = workers.now(session) + timedelta(seconds=60)
            session.execute(update(Worker).where(Worker.id == worker.id).values(heartbeat_at=ahead))
        assert [age for _, age in gathered(installation).workers.values()] == [0.0]

    def test_counts_what_waits_by_reason(self, ready: World) -> None:
        serving(ready)
        ready.submit(provider="k8s", repeats=2)
        paused = ready.submit(provider="k8s")
        local = ready.submit()
        with ready.work() as session:
            session.execute(update(Run).where(Run.id == paused.id).values(state="paused"))
            now = workers.now(session)
            session.execute(
                update(Episode).where(Episode.run_id == local.id).values(available_at=now + timedelta(seconds=60))
            )
        found = gathered(ready)
        assert dict(found.queue) == {("k8s", "ready"): 6, ("k8s", "paused"): 3, ("local", "later"): 3}
        assert set(found.oldest) == {"k8s"}
        assert (found.demand("k8s"), found.demand("local")) == (6, 0)

    def test_wants_no_desktop_that_a_limit_or_a_quota_keeps_unused(self, ready: World) -> None:
        serving(ready)
        bounded = ready.submit(provider="k8s", repeats=4)
        with ready.work() as session:
            session.execute(update(Run).where(Run.id == bounded.id).values(concurrency=2))
        assert (gathered(ready).waiting("k8s"), gathered(ready).demand("k8s")) == (12, 2)
        ready.submit(provider="k8s", repeats=2)
        assert gathered(ready).demand("k8s") == 8
        with ready.work() as session:
            session.execute(update(Project).values(quota={"k8s": 5}))
        assert gathered(ready).demand("k8s") == 5

    def test_wants_no_desktop_for_a_licence_without_a_free_seat(self, ready: World) -> None:
        serving(ready)
        seats(ready, "Photoshop", 2)
        ready.benchmark(make_benchmark(make_task(licences={"Photoshop": 1})), name="licensed")
        ready.submit(benchmark="licensed", provider="k8s", repeats=3)
        assert (gathered(ready).waiting("k8s"), gathered(ready).demand("k8s")) == (3, 2)

    def test_counts_what_runs_what_is_free_and_what_was_lost(self, ready: World) -> None:
        worker = serving(ready)
        observe(ready, seen("n1", 2), seen("n2", 3, NodeState.DRAINING, "cordoned"), seen("n3", 1, NodeState.GONE))
        ready.submit(provider="k8s")
        ready.lose(claimed(ready, worker), FailureClass.CLUSTER)
        ready.run_to_evaluation(claimed(ready, worker))
        found = gathered(ready)
        assert dict(found.attempts) == {("k8s", "evaluating"): 1}
        assert dict(found.slots) == {
            ("k8s", "ready", "leased"): 1,
            ("k8s", "ready", "free"): 1,
            ("k8s", "draining", "closed"): 3,
        }
        assert dict(found.lost) == {"cluster": 1}
        assert found.leases["k8s"] == 2 / 60
        assert found.demand("k8s") == 3
        state, age = found.workers["w1"]
        assert state == "online"
        assert 0.0 <= age < 60.0

    def test_a_clock_that_went_back_makes_nothing_negative(self, ready: World) -> None:
        ready.worker()
        ready.submit()
        with ready.work() as session:
            later = workers.now(session) + timedelta(hours=1)
            session.execute(update(Worker).values(heartbeat_at=later))
        assert gathered(ready).workers == {"w1": ("online", 0.0)}

    def test_slots_that_no_worker_can_use_are_closed(self, installation: World) -> None:
        observe(installation, seen("n1", 2))
        worker = installation.worker()
        assert dict(gathered(installation).slots) == {
            ("k8s", "ready", "closed"): 2,
            ("local", "ready", "free"): 2,
        }
        with installation.work() as session:
            session.get_one(Worker, worker.id).state = "offline"
        assert gathered(installation).in_state("local", "closed") == 2

    def test_leases_of_a_gone_node_are_counted_until_moved(self, ready: World) -> None:
        worker = serving(ready)
        observe(ready, seen("n1", 2))
        ready.submit(provider="k8s")
        claimed(ready, worker)
        observe(ready)
        assert dict(gathered(ready).slots) == {("k8s", "gone", "leased"): 1}
        ready.do(nodes.move_off, ZONE)
        assert dict(gathered(ready).slots) == {}


class TestRecent:
    def test_looks_once_in_a_while(self, ready: World) -> None:
        clock = [0.0]
        ready.worker()
        read = partial(of_installation, ready.factory, autoscaling_signals.gather)
        recent = CachedRead(read, seconds=5.0, clock=lambda: clock[0])
        assert recent.value().waiting("local") == 0
        ready.submit()
        clock[0] = 4.9
        assert recent.value().waiting("local") == 0
        clock[0] = 5.0
        assert recent.value().waiting("local") == 3


class TestCheap:
    def test_lost_attempts_and_leases_are_found_by_an_index(self, ready: World) -> None:
        """Both tables grow without end; a scrape must not read them whole."""
        lost = "SELECT 1 FROM attempt WHERE state = 'lost' AND ended_at > now() - interval '1 hour'"
        leases = "SELECT 1 FROM lease WHERE id > '018f0000-0000-7000-8000-000000000000'"
        with ready.work() as session:
            session.execute(text("SET LOCAL enable_seqscan = off"))
            plans = ["\n".join(session.scalars(text(f"EXPLAIN {query}"))) for query in (lost, leases)]
        assert "ix_attempt_lost" in plans[0]
        assert "pk_lease" in plans[1]
