"""What a single failure of the cluster's API must not cost."""

import pytest

from tests.factories.k8s_place import NAMESPACE, Place
from tests.integration.k8s.conftest import SPEC, slot
from tests.waiting import until
from worker.providers.k8s import K8sProvider

pytestmark = [pytest.mark.desktop, pytest.mark.timeout(300)]


class TestScout:
    def test_images_that_were_read_count_though_their_pod_could_not_be_removed(self, place: Place) -> None:
        fault = place.cluster.faults.fail("delete", path="/pods/")
        worker = K8sProvider(place.settings(k8s_owner="scout-error"))
        until(lambda: worker.availability().ok, 30, what=worker.availability().reason)
        assert fault.times == 0
        worker.close()


class TestRemove:
    def test_that_a_pod_is_gone_is_asked_again_where_there_was_no_answer(self, place: Place) -> None:
        worker = place.provider(k8s_owner="remove-error")
        worker.open(slot(), SPEC)
        held = worker._slots.get(slot())
        assert held is not None
        fault = place.cluster.faults.throttle("get", path=f"/pods/{held.pod.name}")
        worker._running().remove(held.pod.name, held.pod.uid)
        assert fault.times == 0
        assert place.cluster.pod(NAMESPACE, held.pod.name) is None
        worker.close()
