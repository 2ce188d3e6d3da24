"""Warm pods of the real provider in a cluster of our own: whom they are taken from, and from whom not."""

import threading

import pytest

from backend.domain.machines.slots import SlotRef
from tests.factories.fake_cluster_pods import NAMESPACE, PodCluster
from tests.fakes.kubernetes.behaviours import evicted
from tests.integration.k8s.conftest import SPEC, slot
from tests.waiting import until
from worker.k8s import manifests
from worker.providers.k8s import K8sProvider

pytestmark = [pytest.mark.desktop, pytest.mark.timeout(300)]


def warmed(provider: K8sProvider, which: SlotRef) -> str:
    """Requests a pod for an unleased slot; returns its UID."""
    provider.prepare(which, SPEC)
    until(lambda: uid_of(provider, which) and not provider.warming(), 60)
    return uid_of(provider, which)


def uid_of(provider: K8sProvider, which: SlotRef) -> str:
    held = provider.slots.get(which)
    return held.pod.uid if held is not None and held.supervisor.alive() else ""


def is_there(place: PodCluster, uid: str) -> bool:
    """Whether the pod exists and is not being deleted."""
    return uid in {one["metadata"]["uid"] for one in place.named() if not one["metadata"].get("deletionTimestamp")}


def cooling() -> list[str]:
    """Threads that are removing pods."""
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("cool ")]


@pytest.mark.sampled(1)
class TestCool:
    def test_pod_stays_between_two_attempts_of_a_lease(self, place: PodCluster, provider: K8sProvider) -> None:
        leased = slot(11, "node-2", fence=5)
        opened = provider.open(leased, SPEC)
        uid = uid_of(provider, leased)
        opened.close()
        provider.cool(slot(11, "node-2", fence=0))
        until(lambda: not cooling(), 30)
        assert is_there(place, uid)
        provider.unprepare(leased)
        provider.cool(slot(11, "node-2", fence=0))
        until(lambda: not is_there(place, uid), 30)

    def test_repeated_cool_runs_once(self, place: PodCluster, provider: K8sProvider) -> None:
        warm = slot(12, "node-2", fence=0)
        uid = warmed(provider, warm)
        with provider.slots.taking(warm):
            for _ in range(5):
                provider.cool(warm)
            assert cooling() == [f"cool {warm}"]
            provider.prepare(warm, SPEC)
            assert not provider.warming(), "what is being removed is not made meanwhile"
        until(lambda: not cooling(), 30)
        assert not is_there(place, uid)
        assert is_there(place, warmed(provider, warm))

    def test_cool_leaves_the_pod_of_a_slot_leased_meanwhile(self, place: PodCluster) -> None:
        looks, works = place.provider(k8s_instance_label="since"), place.provider(k8s_instance_label="since")
        uid = warmed(works, slot(0, fence=0))
        name = manifests.slot_name(slot())
        until(lambda: looks.availability().ok and name in (looks.warmed() or {}), 60)
        works.open(slot(fence=4), SPEC)
        # What it has asked the database is older than the lease; what it sees of the pod is not.
        until(lambda: looks.pods().fences()[name] == 4)
        looks.cool(slot(fence=0))
        until(lambda: not cooling(), 90)
        assert is_there(place, uid)
        looks.close()
        works.close()


class TestPrepare:
    def test_ended_warm_pod_is_recreated(self, place: PodCluster, provider: K8sProvider) -> None:
        warm = slot(13, "node-2", fence=0)
        uid = warmed(provider, warm)
        held = provider.slots.get(warm)
        assert held is not None
        place.cluster.run(NAMESPACE, held.pod.name).follow(evicted())
        until(lambda: not uid_of(provider, warm), 30)
        assert is_there(place, again := warmed(provider, warm))
        assert again != uid
