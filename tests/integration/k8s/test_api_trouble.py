"""A single failure of the cluster's API costs neither images that were read nor a pod that is used."""

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.factories.fake_cluster_pods import NAMESPACE, PodCluster
from tests.integration.k8s.conftest import SPEC, slot
from tests.waiting import holds, until
from worker.k8s import manifests
from worker.providers import k8s
from worker.providers.k8s import K8sProvider

pytestmark = [pytest.mark.desktop, pytest.mark.timeout(300)]


class TestScout:
    def test_images_are_known_even_if_their_probe_pod_cannot_be_removed(self, place: PodCluster) -> None:
        fault = place.cluster.faults.fail("delete", path="/pods/")
        worker = K8sProvider(place.settings(k8s_instance_label="scout-error"))
        until(lambda: worker.availability().ok, 30, what=worker.availability().reason)
        assert fault.times == 0
        worker.close()


class TestRemove:
    def test_a_pod_s_absence_is_checked_again_after_a_lost_answer(self, place: PodCluster) -> None:
        worker = place.provider(k8s_instance_label="remove-error")
        worker.open(slot(), SPEC)
        held = worker.slots.get(slot())
        assert held is not None
        fault = place.cluster.faults.throttle("get", path=f"/pods/{held.pod.name}")
        worker.pods().remove(held.pod.name, held.pod.uid)
        assert fault.times == 0
        assert place.cluster.pod(NAMESPACE, held.pod.name) is None
        worker.close()


@pytest.mark.sampled(1)
class TestRenew:
    @pytest.fixture
    def used(self, place: PodCluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[K8sProvider]:
        """A worker with one pod, which is looked after ten times a second and has 40 s until its deadline."""
        monkeypatch.setattr(k8s, "LOOK_SECONDS", 0.1)
        monkeypatch.setattr(k8s, "SWEEP_SECONDS", 0.1)
        made = place.provider(k8s_instance_label="renew-error", k8s_idle_seconds=40)
        made.open(slot(), SPEC)
        yield made
        made.close()

    def test_a_pod_that_could_not_be_renewed_is_renewed_soon_after_the_cluster_answers_again(
        self, place: PodCluster, used: K8sProvider
    ) -> None:
        held = used.slots.get(slot())
        assert held is not None

        def deadline() -> str:
            found = place.cluster.pod(NAMESPACE, held.pod.name)
            assert found is not None
            return str(found["metadata"]["annotations"][manifests.DEADLINE])

        fault, before = place.cluster.faults.fail("patch", path=f"/pods/{held.pod.name}"), deadline()
        held.renewed_at -= 11.0
        until(lambda: not fault.times, 20)
        until(lambda: deadline() != before, 8, what="a quarter of its time would be 10 s")

    def test_a_pod_that_is_used_is_not_swept_by_its_own_worker(
        self, place: PodCluster, used: K8sProvider, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        held, pods = used.slots.get(slot()), used.pods()
        assert held is not None
        place.cluster.faults.fail("patch", path=f"/pods/{held.pod.name}", times=-1)
        monkeypatch.setattr(pods, "plan", replace(pods.plan, idle=0.0))
        monkeypatch.setattr(pods, "now", lambda: time.time() + 3600)
        holds(lambda: "deletionTimestamp" not in (place.cluster.pod(NAMESPACE, held.pod.name) or {})["metadata"], 2.0)
        place.cluster.faults.clear()
