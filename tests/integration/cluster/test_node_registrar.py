"""A worker's part in its cluster, put together by the settings."""

from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import select

from backend.config import Settings
from backend.db.models import Node, Slot
from backend.domain.machines.slots import DesktopNeeds
from backend.domain.model.units import GIB
from tests.factories.records import World, capabilities
from tests.fakes.kubernetes.cluster import FakeCluster
from tests.integration.cluster.conftest import NAMESPACE
from tests.waiting import until
from worker.base.database import Database
from worker.k8s.client import Kubernetes
from worker.k8s.cluster import LEASES
from worker.k8s.node_registrar import NodeRegistrar

NEED = DesktopNeeds(memory=9 * GIB // 2, cores=2.0, disk=24 * GIB)
NAME = f"{NAMESPACE}/lab"


def settings(kubeconfig: Path, **more: object) -> Settings:
    """As of a worker that serves the fake cluster."""
    named = {
        "kubeconfig": str(kubeconfig),
        "k8s_namespace": NAMESPACE,
        "k8s_pod_image": "vm:1",
        "k8s_instance_label": "lab",
    }
    return Settings(**{**named, **more})  # type: ignore[arg-type]


@pytest.fixture
def kubeconfig(fake: FakeCluster, tmp_path: Path) -> Path:
    return fake.kubeconfig(tmp_path / "presence")


def present(
    made: Settings, database: Database, *, need: DesktopNeeds | None = NEED, worker: UUID | None = None
) -> NodeRegistrar:
    found = NodeRegistrar.from_settings(
        made,
        database,
        need=lambda: need,
        worker=lambda: None if worker is None else (worker, "w1"),
        on_takeover=lambda *_: None,
    )
    assert found is not None
    found.start()
    return found


def slots(world: World) -> dict[str, int]:
    query = select(Node.name).join(Slot, Slot.node_id == Node.id).where(Node.cluster == NAME)
    found = world.do(lambda session: list(session.scalars(query)))
    return {name: found.count(name) for name in found}


class TestPresence:
    def test_nodes_get_the_slots_that_the_largest_machines_pod_leaves_room_for(
        self, fake: FakeCluster, kubeconfig: Path, ready: World, database: Database
    ) -> None:
        """64 GiB, 16 cores, 200 GiB of disk: pods of 4.5 GiB, 2 cores and 24 GiB. Disk and cores allow 8, devices 5."""
        fake.add_node("n1", kvm=5)
        fake.add_node("n2", kvm=110)
        fake.add_node("plain")
        found = present(settings(kubeconfig, k8s_nodes="*"), database)
        until(lambda: slots(ready) == {"n1": 5, "n2": 8})
        found.stop()

    def test_fixed_number_of_slots_without_node_access(
        self, fake: FakeCluster, kubeconfig: Path, ready: World, database: Database
    ) -> None:
        found = present(settings(kubeconfig, k8s_slots=7), database, need=None)
        until(lambda: slots(ready) == {"": 7})
        found.stop()
        assert not [each for each in fake.asked if "/nodes" in each.path]

    def test_with_neither_it_says_what_to_set(
        self, fake: FakeCluster, kubeconfig: Path, ready: World, database: Database
    ) -> None:
        assert fake is not None
        found = present(settings(kubeconfig), database)
        query = select(Node.reason).where(Node.cluster == NAME)
        (reason,) = until(lambda: ready.do(lambda session: list(session.scalars(query))))
        assert "DESKARENA_K8S_SLOTS" in reason
        found.stop()

    def test_no_node_is_registered_before_the_pod_size_is_known(
        self, fake: FakeCluster, kubeconfig: Path, ready: World, database: Database
    ) -> None:
        fake.add_node("n1", kvm=5)
        found = present(settings(kubeconfig, k8s_nodes="*"), database, need=None)
        until(lambda: [each for each in fake.asked if "/nodes" in each.path])
        assert slots(ready) == {}
        found.stop()

    def test_holds_are_mirrored(self, cluster: Kubernetes, kubeconfig: Path, ready: World, database: Database) -> None:
        offer = {"ok": True, "reason": "", "programs": ["mousepad"], "cluster": NAME}
        worker = ready.worker(slots_by_provider={"k8s": 9}, capabilities=capabilities(k8s=offer))
        found = present(settings(kubeconfig, k8s_slots=2), database, worker=worker.id)
        until(lambda: slots(ready) == {"": 2})
        ready.submit(provider="k8s")
        claim = ready.claim(worker, "k8s")
        assert claim is not None
        (lease,) = until(lambda: cluster.list(LEASES).items)
        assert lease["metadata"]["annotations"]["deskarena.dev/episode"] == str(claim.episode_id)
        ready.score(claim)
        found.stop()
        assert cluster.list(LEASES).items == ()

    def test_no_registrar_without_a_cluster(self, database: Database) -> None:
        for made in (Settings(), settings(Path("/nowhere"), k8s_pod_image="")):
            found = NodeRegistrar.from_settings(
                made, database, need=lambda: NEED, worker=lambda: None, on_takeover=lambda *_: None
            )
            assert found is None
