"""Pods that the scheduler places leave nodes that are cordoned, tainted or about to go; their attempts finish."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import ClusterLost
from backend.domain.machines.slots import SlotRef
from backend.domain.ports.desktop import DesktopSpec, OpenDesktop
from tests.factories.fake_cluster_pods import NAMESPACE, PodCluster, light_place
from tests.factories.light_guest import SCREEN
from tests.fakes.kubernetes.nodes import add_taint
from tests.integration.k8s.conftest import slot
from tests.unit.deploy.built import kind
from tests.waiting import until
from worker.k8s.pod_status import PodStatus
from worker.providers.k8s import K8sProvider

SPEC = DesktopSpec(screen=SCREEN)
Start = Callable[..., K8sProvider]
Close = Callable[[PodCluster, str], None]

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[PodCluster]:
    with light_place(tmp_path) as made:
        yield made


@pytest.fixture
def start(place: PodCluster) -> Iterator[Start]:
    """Starts workers of one installation."""
    made: list[K8sProvider] = []

    def one(**settings: Any) -> K8sProvider:
        made.append(place.provider(k8s_slots=4, **settings))
        return made[-1]

    yield one
    for each in made:
        each.close()


def anywhere(fence: int = 1) -> SlotRef:
    """A slot whose pod the scheduler places."""
    return slot(node="", fence=fence)


def node_of(opened: OpenDesktop) -> str:
    return str(opened.details["node"])


def uid_of(opened: OpenDesktop) -> str:
    return str(opened.details["pod_uid"])


def uids(place: PodCluster) -> set[str]:
    return {each["metadata"]["uid"] for each in place.named()}


def seen(worker: K8sProvider) -> PodStatus:
    """A worker's knowledge of the pod of its only slot."""
    held = worker.slots.get(anywhere())
    assert held is not None
    return worker.pods().status(held.pod)


def cordon(place: PodCluster, node: str) -> None:
    place.cluster.cordon(node)


def tainted(key: str) -> Close:
    def close(place: PodCluster, node: str) -> None:
        place.cluster.nodes.change(node, lambda found: add_taint(found, key, "NoSchedule"))

    return close


def is_cooling() -> bool:
    """Whether a thread is removing a slot's pod."""
    return any(each.name.startswith("cool ") for each in threading.enumerate())


@pytest.mark.sampled(1)
class TestAttempts:
    @pytest.mark.parametrize(
        "close",
        [cordon, tainted("team"), tainted("ToBeDeletedByClusterAutoscaler"), tainted("karpenter.sh/disrupted")],
        ids=["cordoned", "tainted", "autoscaler", "karpenter"],
    )
    def test_the_running_attempt_finishes_and_the_next_one_of_the_lease_runs_elsewhere(
        self, place: PodCluster, start: Start, close: Close
    ) -> None:
        worker = start()
        before = worker.open(anywhere(), SPEC)
        close(place, node_of(before))
        until(lambda: seen(worker).leave, what="the worker has heard of it")
        assert before.alive()
        assert before.desktop.probe().platform == "Linux"
        assert uid_of(before) in uids(place)
        before.close()
        after = worker.open(anywhere(), SPEC)
        assert node_of(after) != node_of(before)
        assert uids(place) == {uid_of(after)}, "nothing is left of the pod before"
        assert worker.troubles() == {}
        after.close()

    def test_pod_stays_if_its_node_is_uncordoned(self, place: PodCluster, start: Start) -> None:
        worker = start()
        before = worker.open(anywhere(), SPEC)
        place.cluster.cordon(node_of(before))
        until(lambda: seen(worker).leave)
        place.cluster.cordon(node_of(before), on=False)
        until(lambda: not seen(worker).leave)
        before.close()
        after = worker.open(anywhere(), SPEC)
        assert uid_of(after) == uid_of(before)
        after.close()

    def test_new_lease_holder_does_not_take_over_a_pod_on_a_draining_node(
        self, place: PodCluster, start: Start
    ) -> None:
        first, second = start(KUBECONFIG=place.own_kubeconfig("first")), start()
        before = first.open(anywhere(), SPEC)
        before.close()
        place.cluster.remove_token("first")  # It is killed, and removes nothing.
        place.cluster.cordon(node_of(before))
        pod = first.slots.all()[anywhere()].pod
        until(lambda: second.pods().status(pod).leave)
        after = second.open(anywhere(fence=2), SPEC)
        assert node_of(after) != node_of(before)
        assert uids(place) == {uid_of(after)}
        after.close()

    def test_pod_waits_for_a_node_with_room(self, place: PodCluster, start: Start) -> None:
        worker = start()
        before = worker.open(anywhere(), SPEC)
        before.close()
        for node in ("node-1", "node-2"):
            place.cluster.cordon(node)
        until(lambda: seen(worker).leave)
        place.cluster.add_node("node-3", kvm=1)
        after = worker.open(anywhere(), SPEC)
        assert node_of(after) == "node-3"
        after.close()


@pytest.mark.sampled(1)
class TestIdlePods:
    def test_idle_pod_is_deleted_once_its_slot_is_released(self, place: PodCluster, start: Start) -> None:
        worker = start()
        opened = worker.open(anywhere(), SPEC)
        place.cluster.cordon(node_of(opened))
        until(lambda: seen(worker).leave)
        opened.close()
        worker.unprepare(anywhere())
        until(lambda: not uids(place), 20, what="the pod is gone")
        assert worker.slots.get(anywhere()) is None

    def test_warm_pod_is_deleted_and_recreated_on_another_node(self, place: PodCluster, start: Start) -> None:
        worker, warm = start(), anywhere(fence=0)

        def warmed() -> str:
            worker.prepare(warm, SPEC)
            until(lambda: worker.slots.get(warm) and not worker.warming())
            return worker.slots.all()[warm].pod.node

        before = warmed()
        place.cluster.cordon(before)
        until(lambda: not uids(place), 20, what="the pod is gone")
        until(lambda: worker.slots.get(warm) is None and not is_cooling())
        assert warmed() != before

    def test_idle_pod_stays_while_the_api_server_fails_requests(self, place: PodCluster, start: Start) -> None:
        worker = start()
        opened = worker.open(anywhere(), SPEC)
        opened.close()
        place.cluster.faults.fail("create", "delete", times=-1)
        place.cluster.cordon(node_of(opened))
        until(lambda: seen(worker).leave)
        with pytest.raises(ClusterLost):
            worker.open(SlotRef(1, "", "slot-1", 1), SPEC)
        assert worker.away()
        worker.unprepare(anywhere())
        asked = place.asked()
        until(lambda: place.asked() > asked, 20, what="it is asked whether it does it now")
        assert uids(place) == {uid_of(opened)}
        assert worker.slots.get(anywhere()) is not None, "it is not forgotten"
        place.cluster.faults.clear()
        until(lambda: not uids(place), 30, what="the pod is gone")


class TestRights:
    def test_pods_are_reused_without_node_access(self, place: PodCluster, start: Start) -> None:
        place.cluster.add_token("poor", "worker", *kind("production", "Role"), namespace=NAMESPACE)
        poor = place.cluster.kubeconfig(place.data / "poor", token="poor", namespace=NAMESPACE)
        worker = start(KUBECONFIG=str(poor))
        before = worker.open(anywhere(), SPEC)
        before.close()
        place.cluster.cordon(node_of(before))
        until(lambda: [each for each in place.cluster.asked if "/nodes" in each.path], what="nodes were asked for")
        assert worker.away() == ""
        after = worker.open(anywhere(), SPEC)
        assert uid_of(after) == uid_of(before)
        after.close()

    def test_slots_on_nodes_need_no_further_requests(self, place: PodCluster, start: Start) -> None:
        start(k8s_nodes="*").open(slot(), SPEC).close()
        assert not [each for each in place.cluster.asked if "/nodes" in each.path]
