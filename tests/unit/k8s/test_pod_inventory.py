"""The sweep of pods, in a cluster of our own whose pods are only objects."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.config import Settings
from backend.domain.machines.slots import SlotRef
from tests.fakes.kubernetes.cluster import FakeCluster, fake_cluster
from tests.waiting import until
from worker.k8s import manifests
from worker.k8s.client import Kubernetes, connect
from worker.k8s.cluster import PODS
from worker.k8s.manifests import PodResources
from worker.k8s.plan import PodPlan
from worker.k8s.pod_inventory import PodInventory
from worker.k8s.pod_watch import PodWatch

PLAN = PodPlan.from_settings(Settings(k8s_pod_image="registry.example/vm:1", k8s_idle_seconds=30))


@pytest.fixture
def fake() -> Iterator[FakeCluster]:
    with fake_cluster() as made:
        yield made


@pytest.fixture
def cluster(fake: FakeCluster, tmp_path: Path) -> Iterator[Kubernetes]:
    made = connect(str(fake.kubeconfig(tmp_path / "kubeconfig", namespace="default")), "default")
    yield made
    made.close()


@pytest.fixture
def pods(cluster: Kubernetes) -> Iterator[PodInventory]:
    """An hour later than it is."""
    watch = PodWatch(cluster, manifests.selector(PLAN))
    watch.start()
    yield PodInventory(cluster, watch, PodPlan(**{**vars(PLAN), "idle": 0.0}), lambda: time.time() + 3600)
    watch.close()


class TestSweep:
    def test_removed_pods_are_logged(
        self, fake: FakeCluster, cluster: Kubernetes, pods: PodInventory, caplog: pytest.LogCaptureFixture
    ) -> None:
        body = manifests.pod(PLAN, SlotRef(0), PodResources(64, 0.1), secret="none", worker="w", deadline=time.time())
        name = cluster.create(PODS, body)["metadata"]["name"]
        until(lambda: pods.desktops() or pods.fences(), what="the watch has seen it")
        for fault in (fake.faults.fail, fake.faults.throttle):
            fault("delete", path="/pods/")
            assert pods.sweep() == []
        assert "not removed" in caplog.text
        assert "removing it" not in caplog.text
        until(lambda: pods.sweep() == [name], what="it goes, once what the scheduler wrote on it last is known")
        assert f"{name}: deadline passed, removing it" in caplog.text
