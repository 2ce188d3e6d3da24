"""A worker's knowledge of a pod that it takes over: its failed health checks and its number of attempts."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import ClusterLost, GuestLost
from backend.domain.ports.desktop import DesktopSpec
from tests.error_codes import raises_code
from tests.factories.fake_cluster_pods import NAMESPACE, PodCluster, light_place
from tests.factories.light_guest import SCREEN
from tests.factories.light_pods import IMAGE, LightPods
from tests.factories.machine_images import write_small_image
from tests.fakes.kubernetes.behaviours import image_pull_back_off
from tests.integration.k8s.conftest import slot
from tests.waiting import until
from worker.k8s import manifests
from worker.providers import vm_factory
from worker.providers.k8s import K8sProvider
from worker.providers.pod_slots import SlotTakenOver
from worker.qemu.client import VmHandle
from worker.qemu.remote import RemoteSupervisor

SPEC = DesktopSpec(screen=SCREEN)
Start = Callable[..., K8sProvider]

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[PodCluster]:
    with light_place(tmp_path) as made:
        yield made


@pytest.fixture
def start(place: PodCluster) -> Iterator[Start]:
    """Starts workers of one installation."""
    made: list[K8sProvider] = []

    def one(**settings: object) -> K8sProvider:
        made.append(place.provider(**settings))
        return made[-1]

    yield one
    place.cluster.faults.clear()
    for each in made:
        each.close()


def play(worker: K8sProvider, fence: int, *, sick: bool = False, times: int = 1, give_back: bool = True) -> str:
    """Attempts under one lease. Returns the UID of the pod of the last."""
    which = slot(fence=fence)
    for _ in range(times):
        opened = worker.open(which, SPEC)
        if sick:
            worker.distrust(which)
        opened.close()
    if give_back:
        worker.unprepare(which)
    return str(opened.details["pod_uid"])


def notes(place: PodCluster) -> dict[str, str]:
    (name,) = (each["metadata"]["name"] for each in place.named())
    pod = place.cluster.pod(NAMESPACE, name)
    assert pod is not None
    return {name.removeprefix("deskarena.dev/"): text for name, text in pod["metadata"]["annotations"].items()}


@pytest.mark.sampled(1)
class TestTrust:
    def test_distrusted_pod_is_replaced_by_the_next_lease_holder(self, start: Start) -> None:
        first, second = start(), start()
        sick = play(first, 1, sick=True)
        well = play(second, 2)
        assert well != sick
        assert play(first, 3) == well, "one that is well is taken over"

    def test_distrust_is_written_once_the_cluster_accepts_requests_again(self, place: PodCluster, start: Start) -> None:
        first, second = start(), start()
        which = slot(fence=1)
        opened = first.open(which, SPEC)
        place.cluster.faults.fail("patch", "create", times=-1)
        first.distrust(which)
        opened.close()
        first.unprepare(which)
        assert notes(place)["key"] != "distrusted"
        place.cluster.faults.clear()
        until(lambda: notes(place)["key"] == "distrusted", 30, what="it is written when the cluster does it again")
        assert play(second, 2) != opened.details["pod_uid"]

    def test_pod_whose_guest_never_answers_is_replaced_and_its_slot_pauses(
        self, place: PodCluster, start: Start, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def silent(*_: object, **__: object) -> None:
            raise GuestLost("the guest API never answered")

        worker, which = start(), slot(fence=1)
        worker.open(which, SPEC).close()
        with monkeypatch.context() as patched:
            patched.setattr(vm_factory, "restore", silent)
            with pytest.raises(GuestLost):
                worker.open(which, SPEC)
        (sick,) = (each["metadata"]["uid"] for each in place.named())
        assert "the guest API never answered" in (worker.troubles() or {})[manifests.slot_name(which)].why
        assert play(worker, 2) != sick
        assert worker.troubles() == {}


class TestRelease:
    @pytest.mark.parametrize("ended", ["before", "after"])
    def test_prepared_pod_is_not_renewed_after_its_lease(self, place: PodCluster, start: Start, ended: str) -> None:
        worker, which = start(), slot(fence=1)
        if ended == "before":
            with worker.slots.taking(which):
                worker.prepare(which, SPEC)
                worker.unprepare(which)
        else:
            worker.prepare(which, SPEC)
        until(lambda: not worker.warming(), 30)
        held = worker.slots.get(which)
        assert held is not None
        if ended == "after":
            worker.keep({which})
            assert held.renewed
            worker.unprepare(which)
        assert not held.renewed
        assert worker.slots.in_use() == set()
        worker.keep({which})
        assert held.renewed, "a Warmer keeps it all the same"


class TestTakenOver:
    @pytest.mark.parametrize("warms", [False, True])
    def test_slot_taken_over_during_a_start_does_not_count_as_broken(
        self, start: Start, monkeypatch: pytest.MonkeyPatch, *, warms: bool
    ) -> None:
        first, second = start(), start()
        begin = RemoteSupervisor.start

        def taken(supervisor: RemoteSupervisor, *args: Any, **told: Any) -> VmHandle:
            with monkeypatch.context() as patched:
                patched.setattr(RemoteSupervisor, "start", begin)
                second.open(slot(fence=2), SPEC)
            return begin(supervisor, *args, **told)

        monkeypatch.setattr(RemoteSupervisor, "start", taken)
        if warms:
            first.prepare(slot(fence=0), SPEC)
            until(lambda: not first.warming(), 30)
        else:
            with raises_code(SlotTakenOver, "slot_taken_over"):
                first.open(slot(fence=1), SPEC)
        assert first.troubles() == {}


class TestImages:
    def build_anew(self, place: PodCluster, version: str, *, memory_mib: int) -> None:
        assert isinstance(place.pods, LightPods)
        shutil.rmtree(place.pods.images / IMAGE)
        size = {"width": SCREEN.width, "height": SCREEN.height}
        said = {"screens": [size], "memory_mib": memory_mib, "cpus": 1, "guest_api": "1.1", "version": version}
        write_small_image(place.pods.images, IMAGE, **said)

    def test_image_rebuilt_during_a_lease_is_used_by_the_next_attempt(self, place: PodCluster, start: Start) -> None:
        worker, which = start(), slot(fence=1)
        before = play(worker, 1, give_back=False)
        held = worker.slots.get(which)
        assert held is not None
        (old,) = held.supervisor.templates()
        self.build_anew(place, "2", memory_mib=128)
        assert play(worker, 1, give_back=False) == before
        (new,) = held.supervisor.templates()
        assert new.key != old.key, "no clone of what the old image had in memory"
        self.build_anew(place, "3", memory_mib=256)
        assert play(worker, 1) != before, "the pod has too little memory for it"


@pytest.mark.sampled(2)
class TestAttempts:
    def test_attempts_of_all_workers_count(self, start: Start) -> None:
        first, second = start(k8s_max_attempts_per_pod=2), start(k8s_max_attempts_per_pod=2)
        pods = [play((first, second)[fence % 2], fence) for fence in range(1, 6)]
        assert [pods.index(each) for each in pods] == [0, 0, 2, 2, 4]

    @pytest.mark.parametrize("times", [1, 3])
    def test_attempts_of_one_lease_count_for_the_next(self, start: Start, times: int) -> None:
        first, second = start(k8s_max_attempts_per_pod=times), start(k8s_max_attempts_per_pod=times)
        before = play(first, 1, times=times)
        assert play(second, 2) != before

    def test_attempt_count_is_written_once_at_the_end_of_a_lease(self, place: PodCluster, start: Start) -> None:
        worker = start()
        play(worker, 1, times=3, give_back=False)
        assert notes(place)["attempts"] == "1"
        worker.unprepare(slot(fence=1))
        worker.unprepare(slot(fence=1))
        assert notes(place)["attempts"] == "3"
        assert sum(each.verb == "patch" for each in place.cluster.asked) == 1
        play(worker, 2)
        assert notes(place)["attempts"] == "4"

    def test_attempts_of_a_killed_worker_count(self, start: Start) -> None:
        killed, second = start(k8s_max_attempts_per_pod=1), start(k8s_max_attempts_per_pod=1)
        before = play(killed, 1, give_back=False)
        assert play(second, 2) != before

    def test_pod_that_does_not_start_counts_no_attempts(self, place: PodCluster, start: Start) -> None:
        first, second = start(k8s_max_attempts_per_pod=1), start(k8s_max_attempts_per_pod=1)
        place.cluster.script(image_pull_back_off("no such repository"))
        uids = []
        for fence, worker in enumerate((first, second, first), 1):
            with raises_code(ClusterLost, "pod_not_ready", mentions="image cannot be pulled"):
                worker.open(slot(fence=fence), SPEC)
            uids += [each["metadata"]["uid"] for each in place.named()]
        assert len(set(uids)) == 1, "it is left to the cluster, which tries on"
