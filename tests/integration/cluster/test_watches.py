"""One watch for each kind of objects in a namespace, however many slots are used."""

from collections.abc import Iterator

import pytest

from backend.domain.machines.slots import SlotRef
from backend.domain.ports.desktop import DesktopSpec
from tests.factories.fake_cluster_pods import NAMESPACE, PodCluster
from tests.factories.light_guest import SCREEN
from tests.waiting import until
from worker.providers.k8s import K8sProvider

SPEC = DesktopSpec(screen=SCREEN)
SLOTS = [SlotRef(index, f"node-{1 + index % 2}", f"slot-{index}", 1) for index in range(6)]
KINDS = [f"namespaces/{NAMESPACE}/events", f"namespaces/{NAMESPACE}/pods", "nodes"]


@pytest.fixture
def provider(place: PodCluster) -> Iterator[K8sProvider]:
    made = place.provider()
    yield made
    made.close()


def watched(place: PodCluster) -> list[str]:
    """Paths of all watches that there ever were."""
    return [each.path for each in place.cluster.asked if each.verb == "watch"]


def test_slots_share_the_watches_of_their_worker(place: PodCluster, provider: K8sProvider) -> None:
    api = place.cluster.api
    until(lambda: api.watches == len(KINDS), what="one for each kind, before any slot is used")
    opened = []
    for slot in SLOTS:
        opened.append(provider.open(slot, SPEC))
        # Where one ends by its time, and another begins, both may be there for a moment.
        until(lambda: api.watches == len(KINDS), what=f"no more with {len(opened)} slots")
    assert all(each.alive() for each in opened)
    assert len({each.details["pod_uid"] for each in opened}) == len(SLOTS)
    assert sorted({*watched(place)}) == [f"/api/v1/{kind}" for kind in KINDS]
    for each in opened:
        each.close()
    until(lambda: api.watches == len(KINDS), what="nor fewer once they are closed")


def test_each_worker_closes_its_own_watches(place: PodCluster, provider: K8sProvider) -> None:
    api = place.cluster.api
    until(lambda: api.watches == len(KINDS))
    other = place.provider(k8s_instance_label="other")
    until(lambda: api.watches == 2 * len(KINDS))
    other.open(SLOTS[0], SPEC).close()
    other.close()
    until(lambda: api.watches == len(KINDS), what="those of the worker that ended are gone")
    assert provider.open(SLOTS[1], SPEC).alive()
