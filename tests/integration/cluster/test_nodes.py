"""A cluster's nodes in the database: cordon, taint, scale-down in the middle of attempts, a lost API server."""

from collections.abc import Iterator

import pytest
from sqlalchemy import select, text

from backend.db.models import Attempt, Node, Worker
from backend.domain.machines.nodes import NodeReport, NodeState
from backend.domain.machines.slots import DesktopNeeds
from backend.domain.model.units import GIB
from backend.services.capacity import nodes
from backend.services.scheduling.claims import Claim
from tests.factories.records import World, capabilities
from tests.factories.silent_watches import Deaf
from tests.fakes.kubernetes.cluster import FakeCluster
from tests.fakes.kubernetes.kinds import KVM, Json
from tests.waiting import until
from worker.base.database import Database
from worker.k8s import nodes as k8s_nodes
from worker.k8s.client import Kubernetes
from worker.k8s.node_rules import NodeRequirements
from worker.k8s.nodes import NodeRegistry, NodeWatch

NAME = "desks/test"
WANTS = NodeRequirements(DesktopNeeds(memory=4 * GIB, cores=1, disk=8 * GIB), device=KVM)


@pytest.fixture
def watch(fake: FakeCluster, cluster: Kubernetes) -> Iterator[NodeWatch]:
    """Of two nodes with one slot each."""
    for name in ("n1", "n2"):
        fake.add_node(name, kvm=1, labels={"vm": "yes"})
    fake.add_node("other", kvm=1)
    made = NodeWatch(cluster, "vm=yes", lambda: WANTS, grace=0.3)
    made.start()
    yield made
    made.stop()


@pytest.fixture
def registry(watch: NodeWatch, database: Database) -> Iterator[NodeRegistry]:
    """Enters them."""
    made = NodeRegistry(database, NAME, watch.reports, fresh=watch.fresh, woken=watch.woken)
    made.start()
    yield made
    made.stop()


@pytest.fixture
def worker(ready: World, registry: NodeRegistry) -> Worker:
    """One that serves the cluster, whose nodes are known, with work."""
    assert registry is not None
    offer = {"ok": True, "reason": "", "programs": ["mousepad"], "cluster": NAME}
    made = ready.worker("w1", node="w1", slots_by_provider={"k8s": 20}, capabilities=capabilities(k8s=offer))
    until(lambda: states(ready) == {"n1": "ready", "n2": "ready"})
    ready.submit(provider="k8s")
    return made


def states(world: World) -> dict[str, str]:
    return {name: state for name, state, _ in rows(world)}


def reasons(world: World) -> dict[str, str]:
    return {name: reason for name, _, reason in rows(world)}


def rows(world: World) -> list[tuple[str, str, str]]:
    query = select(Node.name, Node.state, Node.reason).where(Node.cluster == NAME)
    found: list[tuple[str, str, str]] = world.do(lambda session: [tuple(row) for row in session.execute(query)])
    return found


def claimed(world: World, worker: Worker) -> Claim:
    claim = world.claim(worker, "k8s")
    assert claim is not None
    return claim


def lost(world: World, claim: Claim) -> str:
    """Why an attempt was lost; empty while it was not."""
    attempt = world.do(lambda session: session.get_one(Attempt, claim.attempt_id))
    assert attempt.failure_class in {None, "cluster"}
    return str(attempt.failure_message)


@pytest.fixture
def stale(
    cluster: Kubernetes, database: Database, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> Iterator[NodeRegistry]:
    """Another worker's, whose watch has broken after it saw two nodes that are ready."""
    assert worker is not None
    watch = NodeWatch(Deaf(cluster), "vm=yes", lambda: WANTS)
    watch.start()
    made = NodeRegistry(database, NAME, watch.reports, fresh=watch.fresh)
    until(watch.reports)
    with monkeypatch.context() as patched:
        patched.setattr(k8s_nodes, "AGAIN_SECONDS", 0.0)  # All is to be written again.
        assert made.look() == []
    until(lambda: not watch.fresh())
    yield made
    watch.stop()


def taint(fake: FakeCluster, node: str, *taints: Json) -> None:
    def change(found: Json) -> None:
        found["spec"]["taints"] = list(taints)

    fake.nodes.change(node, change)


@pytest.mark.sampled(2)
class TestRespected:
    def test_cordon_lets_what_runs_finish_and_starts_nothing(
        self, fake: FakeCluster, ready: World, worker: Worker
    ) -> None:
        running = claimed(ready, worker)
        fake.cordon(running.slot.node)
        until(lambda: states(ready)[running.slot.node] == "draining")
        assert reasons(ready)[running.slot.node].startswith("cordoned")
        other = claimed(ready, worker)
        assert other.slot.node != running.slot.node
        ready.score(running)
        assert ready.claim(worker, "k8s") is None
        fake.cordon(running.slot.node, on=False)
        until(lambda: states(ready)[running.slot.node] == "ready")
        assert claimed(ready, worker).slot.node == running.slot.node

    def test_scale_down_in_mid_attempt_moves_it_at_once(self, fake: FakeCluster, ready: World, worker: Worker) -> None:
        running = claimed(ready, worker)
        taint(fake, running.slot.node, {"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"})
        until(lambda: states(ready)[running.slot.node] == "draining")
        assert "autoscaler" in reasons(ready)[running.slot.node]
        assert lost(ready, running) == ""
        fake.delete_node(running.slot.node)
        until(lambda: lost(ready, running) == "its node was lost: the cluster has no such node any more")
        assert states(ready)[running.slot.node] == "gone"
        again = claimed(ready, worker)
        assert (again.episode_id, again.attempt_number) == (running.episode_id, 2)
        assert again.slot.node != running.slot.node

    def test_no_execute_drives_attempts_out(self, fake: FakeCluster, ready: World, worker: Worker) -> None:
        running = claimed(ready, worker)
        taint(fake, running.slot.node, {"key": "repair", "effect": "NoExecute"})
        until(lambda: "repair:NoExecute" in lost(ready, running))
        assert states(ready)[running.slot.node] == "lost"

    def test_disk_pressure_starts_nothing(self, fake: FakeCluster, ready: World, worker: Worker) -> None:
        assert worker is not None
        fake.nodes.press("n1")
        until(lambda: reasons(ready)["n1"] == "its disk is nearly full")
        fake.nodes.press("n1", full=False)
        until(lambda: states(ready)["n1"] == "ready")

    def test_a_node_that_does_not_answer_is_given_up_after_its_grace_and_used_when_it_is_back(
        self, fake: FakeCluster, ready: World, worker: Worker
    ) -> None:
        running = claimed(ready, worker)
        fake.lose(running.slot.node)
        until(lambda: states(ready)[running.slot.node] in {"unready", "lost"})
        until(lambda: "Kubelet stopped posting" in lost(ready, running))
        fake.find(running.slot.node)
        until(lambda: set(states(ready).values()) == {"ready"})
        assert {claimed(ready, worker).slot.node for _ in range(2)} == {"n1", "n2"}

    def test_new_nodes_are_used_others_are_not_ours(self, fake: FakeCluster, ready: World, worker: Worker) -> None:
        assert worker is not None
        fake.add_node("n3", kvm=3, labels={"vm": "yes"})
        until(lambda: states(ready).get("n3") == "ready")
        assert set(states(ready)) == {"n1", "n2", "n3"}


class TestApiServerAway:
    def test_attempts_continue_and_changes_are_seen_after_the_outage(
        self, fake: FakeCluster, ready: World, worker: Worker, watch: NodeWatch, registry: NodeRegistry
    ) -> None:
        running, other = claimed(ready, worker), claimed(ready, worker)
        fake.faults.away = True
        fake.api.cut_watches()
        until(lambda: watch.reflector.trouble)
        assert watch.reports() is None
        fake.delete_node(other.slot.node)
        assert registry.look() == []
        assert states(ready) == {"n1": "ready", "n2": "ready"}
        assert (lost(ready, running), lost(ready, other)) == ("", "")
        fake.faults.clear()
        until(lambda: lost(ready, other), seconds=30.0)
        assert lost(ready, running) == ""
        ready.score(running)


@pytest.mark.sampled(2)
class TestSeveralWorkers:
    def test_enter_the_same_nodes_once(
        self, ready: World, database: Database, watch: NodeWatch, worker: Worker
    ) -> None:
        assert worker is not None
        others = [NodeRegistry(database, NAME, watch.reports) for _ in range(3)]
        for each in others:
            assert each.look() == []
        assert states(ready) == {"n1": "ready", "n2": "ready"}

    def test_stale_watch_does_not_remove_new_nodes(
        self, fake: FakeCluster, ready: World, worker: Worker, stale: NodeRegistry
    ) -> None:
        fake.add_node("n3", kvm=1, labels={"vm": "yes"})
        until(lambda: states(ready).get("n3") == "ready")
        claims = [claimed(ready, worker) for _ in range(3)]
        assert {each.slot.node for each in claims} == {"n1", "n2", "n3"}
        assert stale.look() == []
        assert states(ready)["n3"] == "ready"
        assert [lost(ready, each) for each in claims] == ["", "", ""]

    def test_stale_watch_does_not_reopen_closed_nodes(
        self, fake: FakeCluster, ready: World, stale: NodeRegistry
    ) -> None:
        fake.cordon("n1")
        fake.lose("n2")
        until(lambda: states(ready) == {"n1": "draining", "n2": "lost"})
        assert stale.look() == []
        assert states(ready) == {"n1": "draining", "n2": "lost"}

    def test_starting_worker_finds_removed_nodes_and_spares_new_ones(
        self, cluster: Kubernetes, ready: World, database: Database
    ) -> None:
        ready.do(
            nodes.observe, NAME, [NodeReport(name=name, state=NodeState.READY) for name in ("old", "new")], whole=True
        )
        ready.do(
            lambda session: session.execute(
                text("UPDATE node SET last_seen_at = now() - interval '6 s' WHERE name = 'old'")
            )
        )
        watch = NodeWatch(cluster, "vm=yes", lambda: WANTS)
        watch.start()
        until(lambda: watch.reports() is not None)
        NodeRegistry(database, NAME, watch.reports, fresh=watch.fresh).look()
        assert states(ready) == {"old": "gone", "new": "ready"}
        watch.stop()

    def test_patient_worker_does_not_restore_a_lost_node(
        self, fake: FakeCluster, cluster: Kubernetes, ready: World, database: Database, worker: Worker
    ) -> None:
        assert worker is not None
        fake.lose("n1")
        until(lambda: states(ready)["n1"] == "lost")
        patient = NodeWatch(cluster, "vm=yes", lambda: WANTS, grace=3600.0)
        patient.start()
        seen = until(lambda: {each.name: each.state.value for each in patient.reports() or ()})
        assert seen["n1"] == "unready"
        NodeRegistry(database, NAME, patient.reports).look()
        assert states(ready)["n1"] == "lost"
        patient.stop()
