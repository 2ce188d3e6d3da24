"""Nodes whose KVM device exists but boots no machine: their pods report it, and workers and pages show it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.config import Settings
from backend.domain.machines.nodes import NodeState
from backend.domain.machines.slots import DesktopNeeds
from backend.domain.model.units import GIB
from backend.domain.ports.desktop import DesktopSpec
from tests.factories import light_pods
from tests.factories.fake_cluster_pods import NAMESPACE, PodCluster, light_place
from tests.factories.light_guest import SCREEN
from tests.fakes.kubernetes.kinds import KVM
from tests.integration.k8s.conftest import slot
from tests.waiting import until
from worker.k8s.client import connect
from worker.k8s.manifests import EMULATED
from worker.k8s.node_rules import NodeRequirements
from worker.k8s.nodes import NodeWatch, anywhere
from worker.k8s.preflight import examine
from worker.providers.k8s import K8sProvider
from worker.qemu.acceleration import Acceleration, AccelerationReason
from worker.qemu.machine import TCG

WHY = "a machine did not boot, QEMU ended with -6"
SPEC = DesktopSpec(screen=SCREEN)
WANTS = NodeRequirements(DesktopNeeds(memory=GIB, cores=1, disk=GIB), device=KVM)

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PodCluster]:
    """A cluster in whose pods no machine boots by KVM."""
    emulated = Acceleration(accelerator=TCG, reason=AccelerationReason.NO_BOOT, detail=WHY)
    monkeypatch.setattr(light_pods, "HOST", {**light_pods.HOST, "acceleration": emulated.to_json()})
    with light_place(tmp_path) as made:
        yield made


@pytest.fixture
def workers(place: PodCluster) -> Iterator[list[K8sProvider]]:
    """Two of one installation."""
    made = [place.provider(), place.provider()]
    yield made
    for each in made:
        each.close()


def node_of(place: PodCluster) -> str:
    """Of the pod with the remark; empty while none has it."""
    pods = [each for each in place.named() if EMULATED in each["metadata"].get("annotations", {})]
    return str(pods[0]["spec"]["nodeName"]) if pods else ""


class TestEmulated:
    def test_every_worker_learns_that_a_pod_emulates(self, place: PodCluster, workers: list[K8sProvider]) -> None:
        first, second = workers
        assert first.emulated() == {}
        opened = first.open(slot(fence=1), SPEC)
        for worker in workers:
            until(worker.emulated, what="the worker hears of it")
            assert worker.emulated() == {node_of(place): WHY}
        assert WHY in second.availability().reason
        assert opened.details["accelerator"] == "tcg"
        opened.close()

    def test_node_has_the_reason_while_its_pod_emulates(self, place: PodCluster, workers: list[K8sProvider]) -> None:
        first, second = workers
        cluster = connect(str(place.kubeconfig), NAMESPACE)
        watch = NodeWatch(cluster, "*", lambda: WANTS, emulated=second.emulated)
        watch.start()
        try:
            first.open(slot(fence=1), SPEC).close()
            until(lambda: any(each.reason for each in watch.reports() or ()), 30, what="the node says so")
            (found,) = (each for each in watch.reports() or () if each.reason)
            assert (found.name, found.state, WHY in found.reason) == (node_of(place), NodeState.READY, True)
        finally:
            watch.stop()
            cluster.close()

    def test_doctor_reports_emulation(self, place: PodCluster, workers: list[K8sProvider]) -> None:
        settings = place.settings(
            k8s_slots=2, k8s_image_volume="image:vms:1", k8s_template_volume=Settings().k8s_template_volume
        )
        assert "is untested" in examine(settings).detail
        workers[0].open(slot(fence=1), SPEC).close()
        until(lambda: node_of(place), 30, what="the pod says so")
        found = examine(settings)
        assert (found.state, WHY in found.detail) == ("ok", True)

    def test_emulation_is_no_problem_without_a_requested_device(self, place: PodCluster) -> None:
        worker = place.provider(k8s_kvm_resource="")
        try:
            worker.open(slot(fence=1), SPEC).close()
            assert worker.emulated() == {}
            assert node_of(place) == ""
        finally:
            worker.close()


def test_slots_without_nodes_name_the_emulating_node() -> None:
    (found,) = anywhere(2, {"n1": WHY})
    assert (found.state, found.slots) == (NodeState.READY, 2)
    assert "n1" in found.reason
    assert WHY in found.reason
    assert not anywhere(2, {})[0].reason
