"""Nodes of a cluster: what workers lease there, and what happens to attempts when a node disappears."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from backend.db.models import Attempt, Episode, Lease, Node, Slot, Worker
from backend.db.repositories.capacity import leases, workers
from backend.domain.machines.nodes import NodeReport, NodeState
from backend.services.capacity import nodes
from backend.services.scheduling import claims
from backend.services.scheduling.claims import Claim
from tests.factories.records import World, capabilities
from tests.factories.tasks import make_benchmark, make_task
from tests.integration.services.lifecycle.test_lease_reaper import waiting_for_a_lock
from tests.waiting import until

ZONE = "zone-a"


def seen(name: str, slots: int = 2, state: NodeState = NodeState.READY, reason: str = "") -> NodeReport:
    return NodeReport(name=name, state=state, slots=slots, reason=reason)


def serving(world: World, name: str = "w1", cluster: str = ZONE, **more: object) -> Worker:
    """A worker that serves a cluster; `more` is what else it says of it."""
    offer = {"ok": True, "reason": "", "programs": ["mousepad"], "cluster": cluster, **more}
    return world.worker(name, node=name, slots_by_provider={"k8s": 20}, capabilities=capabilities(k8s=offer))


def observe(world: World, *found: NodeReport, whole: bool = True) -> list[str]:
    changed: list[str] = world.do(nodes.observe, ZONE, found, whole=whole)
    return changed


def free(world: World, worker: Worker, n: int = 100) -> list[tuple[str, int]]:
    """(node, index) of the free slots, in the order of assignment."""

    def ask(session: Session) -> list[tuple[str, int]]:
        found = leases.free_slots(session, worker, "k8s", n)
        return [(session.get_one(Node, slot.node_id).name, slot.index) for slot in found]

    found: list[tuple[str, int]] = world.do(ask)
    return found


def take(world: World, worker: Worker, n: int = 1) -> list[tuple[str, int]]:
    """Leases free slots; returns their (node, index)."""

    def ask(session: Session) -> list[tuple[str, int]]:
        found = leases.free_slots(session, worker, "k8s", n)
        session.add_all(Lease(slot_id=slot.id, worker_id=worker.id) for slot in found)
        return [(session.get_one(Node, slot.node_id).name, slot.index) for slot in found]

    found: list[tuple[str, int]] = world.do(ask)
    return found


def claimed(world: World, worker: Worker) -> Claim:
    """An attempt on the cluster."""
    claim = world.claim(worker, "k8s")
    assert claim is not None
    return claim


def where(world: World, claim: Claim) -> str:
    """The node that an attempt runs on, as given to its provider."""
    query = select(Node.name).join(Slot).join(Attempt, Attempt.slot_id == Slot.id).where(Attempt.id == claim.attempt_id)
    assert world.do(lambda session: session.scalars(query).one()) == claim.slot.node
    return claim.slot.node


def states(world: World) -> dict[str, str]:
    rows = world.do(lambda session: list(session.scalars(select(Node).where(Node.cluster == ZONE))))
    return {row.name: row.state for row in rows}


@pytest.fixture
def running(ready: World) -> tuple[World, Worker]:
    """A cluster of two nodes with one slot each, a worker that serves it, and a run that waits."""
    worker = serving(ready)
    observe(ready, seen("n1", 1), seen("n2", 1))
    ready.submit(provider="k8s")
    return ready, worker


class TestFreeSlots:
    def test_are_spread_over_the_nodes(self, installation: World) -> None:
        worker = serving(installation)
        observe(installation, seen("n1", 3), seen("n2", 3))
        assert sorted(node for node, _ in free(installation, worker, 2)) == ["n1", "n2"]
        assert [node for node, _ in take(installation, worker, 4)].count("n1") == 2

    def test_the_emptiest_node_comes_first(self, installation: World) -> None:
        worker = serving(installation)
        observe(installation, seen("n1", 4))
        take(installation, worker, 2)
        observe(installation, seen("n1", 4), seen("n2", 4))
        assert free(installation, worker, 3)[:2] == [("n2", 0), ("n2", 1)]

    def test_only_slots_of_the_workers_cluster_are_free(self, installation: World) -> None:
        other = serving(installation, "w2", cluster="zone-b")
        observe(installation, seen("n1"))
        assert free(installation, other) == []
        assert len(free(installation, serving(installation))) == 2

    def test_a_worker_of_its_own_machine_gets_none_of_a_cluster(self, installation: World) -> None:
        observe(installation, seen("n1"))
        offer = {"ok": True, "reason": "", "programs": []}
        worker = installation.worker(node="n1", slots_by_provider={"k8s": 1}, capabilities=capabilities(k8s=offer))
        found = installation.do(lambda session: leases.free_slots(session, worker, "k8s", 9))
        assert [(slot.node_id, slot.index) for slot in found] == [(worker.node_id, 0)]

    def test_nodes_that_are_not_ready_have_no_free_slots(self, installation: World) -> None:
        worker = serving(installation)
        for state in set(NodeState) - {NodeState.READY}:
            observe(installation, seen("n1", state=state, reason="why"))
            assert free(installation, worker) == [], state
        observe(installation, seen("n1"))
        assert len(free(installation, worker)) == 2

    def test_a_ready_node_with_a_reason_comes_last(self, installation: World) -> None:
        worker = serving(installation)
        observe(installation, seen("n1", reason="may be removed"), seen("n2"))
        assert [node for node, _ in free(installation, worker)] == ["n2", "n2", "n1", "n1"]

    def test_many_workers_never_take_one_twice(self, installation: World) -> None:
        observe(installation, *(seen(f"n{number}", 5) for number in range(8)))
        crew = [serving(installation, f"w{number}") for number in range(6)]
        start = Barrier(len(crew))

        def greedy(worker: Worker) -> list[tuple[str, int]]:
            start.wait(10)
            return [slot for _ in range(5) for slot in take(installation, worker, 3)]

        with ThreadPoolExecutor(len(crew)) as pool:
            found = [slot for part in pool.map(greedy, crew) for slot in part]
        found += take(installation, crew[0], 40)
        assert len(found) == len(set(found)) == 40


class TestObserve:
    def test_says_what_has_changed(self, installation: World) -> None:
        assert observe(installation, seen("n1"), seen("n2")) == ["n1", "n2"]
        assert observe(installation, seen("n1"), seen("n2")) == []
        assert observe(installation, seen("n1"), seen("n2", 3)) == ["n2"]
        assert observe(installation, seen("n1", state=NodeState.DRAINING), whole=False) == ["n1"]
        assert states(installation) == {"n1": "draining", "n2": "ready"}

    def test_a_node_that_is_not_there_any_more_is_gone_and_may_come_back(self, installation: World) -> None:
        worker = serving(installation)
        observe(installation, seen("n1"), seen("n2"))
        assert observe(installation, seen("n1")) == ["n2"]
        assert states(installation) == {"n1": "ready", "n2": "gone"}
        assert observe(installation, seen("n1")) == []
        observe(installation, seen("n1"), seen("n2", 1))
        assert sorted(free(installation, worker)) == [("n1", 0), ("n1", 1), ("n2", 0)]

    def test_fewer_slots_leave_those_that_are_held(self, installation: World) -> None:
        worker = serving(installation)
        observe(installation, seen("n1", 3))
        take(installation, worker, 3)
        observe(installation, seen("n1", 1))
        query = select(Slot.index).where(Slot.state == "free").order_by(Slot.index)
        assert installation.do(lambda session: list(session.scalars(query))) == [0]
        live = select(func.count()).select_from(Lease).where(Lease.released_at.is_(None))
        assert installation.do(lambda session: session.scalars(live).one()) == 3
        observe(installation, seen("n1", 3))
        assert installation.do(lambda session: list(session.scalars(query))) == [0, 1, 2]

    def test_several_workers_enter_the_same_at_once(self, installation: World) -> None:
        found = [seen(f"n{number}", 4) for number in range(30)]
        with ThreadPoolExecutor(6) as pool:
            changed = list(pool.map(lambda _: observe(installation, *found), range(6)))
        assert sorted(len(each) for each in changed) == [0, 0, 0, 0, 0, 30]
        assert installation.do(lambda session: session.scalars(select(Slot)).all().__len__()) == 120

    def test_another_cluster_may_have_a_node_of_the_same_name(self, installation: World) -> None:
        installation.worker(node="n1")
        observe(installation, seen("n1"))
        installation.do(nodes.observe, "zone-b", [seen("n1")], whole=True)
        assert installation.do(lambda session: len(session.scalars(select(Node)).all())) == 3


class TestMoveOff:
    @pytest.mark.parametrize("state", [NodeState.DRAINING, NodeState.UNREADY])
    def test_running_attempts_continue_on_draining_and_silent_nodes(
        self, running: tuple[World, Worker], state: NodeState
    ) -> None:
        world, worker = running
        claim = claimed(world, worker)
        node = where(world, claim)
        observe(world, seen(node, 1, state, "cordoned"), whole=False)
        assert world.do(nodes.move_off, ZONE) == []
        world.score(claim)
        assert where(world, claimed(world, worker)) != node

    def test_a_lease_on_a_cordoned_node_gets_nothing_more(self, running: tuple[World, Worker]) -> None:
        world, worker = running
        (claim,) = world.do(claims.claim_many, worker.id, "k8s", 1)
        node = where(world, claim)
        observe(world, seen(node, 1, NodeState.DRAINING, "cordoned"), whole=False)
        world.run_to_evaluation(claim, 1)
        world.score_only(claim)
        assert world.do(claims.claim_next, claim.lease_id) is None
        observe(world, seen(node, 1), whole=False)
        assert world.do(claims.claim_next, claim.lease_id) is not None

    @pytest.mark.parametrize("state", [NodeState.LOST, NodeState.GONE])
    def test_running_attempts_of_a_lost_node_are_retried_elsewhere(
        self, running: tuple[World, Worker], state: NodeState
    ) -> None:
        world, worker = running
        claim = claimed(world, worker)
        node = where(world, claim)
        observe(world, seen(node, 1, state, "it does not answer"), whole=False)
        assert world.do(nodes.move_off, ZONE) == [claim.attempt_id]
        with world.work() as session:
            attempt = session.get_one(Attempt, claim.attempt_id)
            assert (attempt.state, attempt.failure_class, attempt.failure_code) == ("lost", "cluster", "node_lost")
            assert "it does not answer" in attempt.failure_message
            assert session.get_one(Episode, claim.episode_id).state == "waiting"
        assert world.do(claims.worker_heartbeat, worker.id, [claim.lease_id]) == set()
        again = claimed(world, worker)
        assert where(world, again) != node
        assert world.do(nodes.move_off, ZONE) == []

    def test_by_many_at_once_each_attempt_is_lost_once(self, installation: World) -> None:
        installation.benchmark(make_benchmark(*(make_task(name=f"t{n}") for n in range(9))))
        worker = serving(installation)
        observe(installation, *(seen(f"n{number}", 3) for number in range(3)))
        installation.submit(provider="k8s")
        made = {claimed(installation, worker).attempt_id for _ in range(9)}
        observe(installation, *(seen(f"n{number}", 3, NodeState.LOST, "dead") for number in range(3)))
        with ThreadPoolExecutor(4) as pool:
            parts = list(pool.map(lambda _: installation.do(nodes.move_off, ZONE), range(4)))
        assert sorted(attempt for part in parts for attempt in part) == sorted(made)


class TestWorkersOfAClusterAndTheirSlots:
    def test_a_worker_makes_no_slots_of_the_cluster_on_its_own_machine(self, installation: World) -> None:
        worker = serving(installation)
        query = select(Slot).where(Slot.node_id == worker.node_id)
        assert installation.do(lambda session: list(session.scalars(query))) == []


class TestOrderOfLocks:
    def test_holds_nothing_while_a_heartbeat_renews_leases(self, ready: World) -> None:
        """It locks a worker's leases as they come: who held some and waited for others would be waited for."""
        worker = serving(ready)
        observe(ready, seen("n1"))
        ready.submit(provider="k8s")
        first, second = claimed(ready, worker), claimed(ready, worker)
        observe(ready, seen("n1", 2, NodeState.LOST, "not ready"))
        with ThreadPoolExecutor(1) as pool, ready.work() as session:
            workers.beat(session, worker.id)
            mover = pool.submit(ready.do, nodes.move_off, ZONE)
            until(lambda: ready.do(waiting_for_a_lock), what="whoever ends the leases waits for the worker")
            session.execute(text("SET LOCAL lock_timeout = '5s'"))
            held = [first.lease_id, second.lease_id]
            assert leases.beat(session, worker.id, held) == set(held)
            session.commit()
            assert set(mover.result(timeout=30)) == {first.attempt_id, second.attempt_id}
