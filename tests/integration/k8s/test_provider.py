"""Virtual machines in pods: the real provider and supervisor, the official client, and a cluster of our own."""

import dataclasses
import os
import signal
import time
from collections.abc import Iterator

import psutil
import pytest

from backend.domain.errors import ClusterLost
from backend.domain.machines.slots import SlotRef
from backend.domain.ports.desktop import OpenDesktop
from tests.error_codes import raises_code
from tests.factories.fake_cluster_pods import NAMESPACE, PodCluster
from tests.fakes.kubernetes.behaviours import crash_loop, evicted, image_pull_back_off, oom_killed, running
from tests.integration.k8s.conftest import SPEC, slot
from tests.waiting import until
from worker.k8s.cluster import ObjectConflict
from worker.k8s.pods import PodUnavailable
from worker.providers.k8s import K8sProvider
from worker.providers.pod_slot import PodDesktop, PodSlot
from worker.providers.pod_slots import ClusterSilent, SlotTakenOver

pytestmark = [pytest.mark.desktop, pytest.mark.timeout(300)]


@pytest.fixture
def opened(provider: K8sProvider) -> Iterator[PodDesktop]:
    made = pod_desktop(provider.open(slot(), SPEC))
    yield made
    made.close()


def pod_desktop(opened: OpenDesktop) -> PodDesktop:
    assert isinstance(opened, PodDesktop)
    return opened


def fence_of(place: PodCluster, name: str) -> str:
    pod = place.cluster.pod(NAMESPACE, name)
    assert pod is not None
    return str(pod["metadata"]["annotations"]["deskarena.dev/fence"])


def held_by(provider: K8sProvider, which: SlotRef) -> PodSlot:
    found = provider.slots.get(which)
    assert found is not None
    return found


def name_of(opened: OpenDesktop) -> str:
    return str(opened.details["pod"])


@pytest.mark.sampled(3)
class TestOpen:
    def test_reset_sends_no_request_to_the_cluster(
        self, place: PodCluster, provider: K8sProvider, opened: PodDesktop
    ) -> None:
        before, asked = opened.details["pod_uid"], place.asked()
        opened.close()
        again = pod_desktop(provider.open(slot(), SPEC))
        assert again.desktop.probe().platform == "Linux"
        assert (again.details["pod_uid"], again.details["path"]) == (before, "clone")
        assert place.asked() == asked
        again.close()

    def test_a_slot_s_pod_runs_on_its_node_without_rights(self, place: PodCluster, opened: PodDesktop) -> None:
        pod = place.cluster.pod(NAMESPACE, name_of(opened))
        assert pod is not None
        assert (opened.details["node"], pod["spec"]["nodeName"]) == ("node-1", "node-1")
        assert pod["metadata"]["labels"]["deskarena.dev/slot"] == "slot-node-1-0"
        assert pod["spec"]["automountServiceAccountToken"] is False

    def test_every_slot_has_its_own_pod(self, provider: K8sProvider, opened: PodDesktop) -> None:
        other = provider.open(slot(1, "node-2"), SPEC)
        assert name_of(other) != name_of(opened)
        other.close()

    def test_pod_is_replaced_after_the_maximum_of_attempts(self, place: PodCluster) -> None:
        worker = place.provider(k8s_max_attempts_per_pod=1, k8s_instance_label="few")
        first = worker.open(slot(), SPEC)
        first.close()
        second = worker.open(slot(), SPEC)
        assert name_of(second) == name_of(first)
        assert second.details["pod_uid"] != first.details["pod_uid"]
        worker.close()

    def test_distrusted_pod_is_replaced(self, provider: K8sProvider) -> None:
        first = provider.open(slot(2), SPEC)
        provider.distrust(slot(2))
        first.close()
        second = provider.open(slot(2), SPEC)
        assert second.details["pod_uid"] != first.details["pod_uid"]
        second.close()

    def test_pod_created_with_other_settings_is_replaced(self, place: PodCluster) -> None:
        first = place.provider(k8s_instance_label="o")
        second = place.provider(k8s_instance_label="o", k8s_scratch_size="1Gi")
        before = first.open(slot(), SPEC)
        after = second.open(slot(fence=2), SPEC)
        assert after.details["pod_uid"] != before.details["pod_uid"]
        first.close()
        second.close()

    def test_unschedulable_pod_without_the_device_is_reported(self, place: PodCluster) -> None:
        worker = place.provider(k8s_kvm_resource="example.com/none", k8s_instance_label="none")
        with raises_code(ClusterLost, "pod_not_ready", mentions=("0/2 nodes are available", "example.com/none")):
            worker.open(slot(), SPEC)
        told = worker.troubles()
        assert told is not None
        assert "no node takes the pod" in told["slot-node-1-0"].why
        offer = worker.availability()
        assert offer.ok, "one slot's pod is not the whole cluster's"
        assert "1 cannot start: no node takes the pod" in offer.reason
        worker.close()

    def test_unpullable_image_is_named_and_other_slots_work(self, place: PodCluster) -> None:
        worker = place.provider(k8s_instance_label="pull")
        script = place.cluster.script(image_pull_back_off("repository does not exist"), node="node-2", times=1)
        words = ("image cannot be pulled", "repository does not exist")
        with raises_code(ClusterLost, "pod_not_ready", mentions=words):
            worker.open(slot(5, "node-2"), SPEC)
        script.times = 0
        assert worker.open(slot(5, "node-1"), SPEC).alive(), "other slots are not held up"
        worker.close()

    def test_container_that_exits_at_once_is_reported_and_removed(
        self, place: PodCluster, provider: K8sProvider
    ) -> None:
        place.cluster.script(crash_loop(78, "deskarena pod: mount the images read-only"), node="node-2", times=1)
        with raises_code(ClusterLost, "pod_not_ready", mentions=("exit code 78", "mount the images read-only")):
            provider.open(slot(6, "node-2"), SPEC)
        opened = provider.open(slot(6, "node-2"), SPEC)
        assert opened.alive()
        opened.close()

    def test_pod_is_reused_only_for_images_that_it_has_and_fits(
        self, provider: K8sProvider, opened: PodDesktop
    ) -> None:
        held = held_by(provider, slot())
        assert provider.slots.is_good(held, SPEC)
        assert not provider.slots.is_good(held, SPEC.model_copy(update={"image": "another"}))
        small = dataclasses.replace(held, pod=dataclasses.replace(held.pod, memory_mib=held.pod.memory_mib - 1))
        assert not provider.slots.is_good(small, SPEC)
        with raises_code(ClusterLost, "image_not_available", mentions="another"):
            provider.open(slot(), SPEC.model_copy(update={"image": "another"}))
        again = provider.open(slot(), SPEC)
        assert again.details["pod_uid"] == opened.details["pod_uid"], "no pod goes for an image that is nowhere"
        again.close()


class TestPrepare:
    def test_a_slot_without_a_pod_is_warmed_and_cooled(self, place: PodCluster, provider: K8sProvider) -> None:
        warm = slot(8, "node-2", fence=0)
        provider.prepare(warm, SPEC)
        until(lambda: provider.slots.get(warm) and not provider.warming(), 60)
        asked = {each["metadata"]["uid"] for each in place.named()}
        opened = provider.open(slot(8, "node-2", fence=5), SPEC)
        assert opened.details["pod_uid"] in asked, "the pod that was made ahead"
        assert opened.details["path"] == "clone"
        opened.close()
        provider.unprepare(warm)
        provider.cool(warm)
        until(lambda: place.cluster.pod(NAMESPACE, name_of(opened)) is None, 30)


@pytest.mark.sampled(1)
class TestFence:
    def test_later_lease_of_the_same_worker_is_annotated_at_once(
        self, place: PodCluster, provider: K8sProvider, opened: PodDesktop
    ) -> None:
        opened.close()
        again = pod_desktop(provider.open(slot(fence=9), SPEC))
        assert again.details["pod_uid"] == opened.details["pod_uid"]
        assert fence_of(place, name_of(again)) == "9"
        again.close()

    def test_worker_with_an_outdated_lease_does_not_renew_the_pod(self, place: PodCluster) -> None:
        worker, later = place.provider(k8s_instance_label="renew"), place.provider(k8s_instance_label="renew")
        before = pod_desktop(worker.open(slot(fence=3), SPEC))
        held, pods = held_by(worker, slot(fence=3)), worker.pods()
        assert held.due(-1.0)
        later.open(slot(fence=4), SPEC)
        until(lambda: not before.alive())
        assert not held.due(-1.0)
        with pytest.raises((PodUnavailable, ObjectConflict)):
            pods.renew(held.pod, held.fence)
        assert fence_of(place, name_of(before)) == "4"
        worker.close()
        later.close()

    def test_pod_with_an_incompatible_supervisor_is_removed(
        self, place: PodCluster, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from worker.qemu.remote import RemoteSupervisor

        worker = place.provider(k8s_instance_label="useless")
        with monkeypatch.context() as patched:
            patched.setattr(RemoteSupervisor, "host", lambda _: {"of": "another version"})
            with raises_code(ClusterLost, "pod_lost", mentions="version"):
                worker.open(slot(), SPEC)
        owned = "deskarena.dev/owner"
        until(lambda: "useless" not in {each["metadata"]["labels"][owned] for each in place.named()}, 20)
        worker.close()

    def test_later_lease_takes_the_pod_over_and_disconnects_the_former_worker(self, place: PodCluster) -> None:
        stale, later = place.provider(k8s_instance_label="two"), place.provider(k8s_instance_label="two")
        before = pod_desktop(stale.open(slot(fence=3), SPEC))
        after = later.open(slot(fence=4), SPEC)
        assert after.details["pod_uid"] == before.details["pod_uid"], "taken over, not made again"
        until(lambda: not before.alive())
        assert "another worker has taken over the slot" in before.revocation_reason()
        with raises_code(SlotTakenOver, "slot_taken_over"):
            stale.open(slot(fence=3), SPEC)
        assert stale.troubles() == {}, "nothing is wrong with the slot: others use it"
        after.close()
        again = stale.open(slot(fence=5), SPEC)
        assert again.details["pod_uid"] == before.details["pod_uid"], "what was taken over is taken back"
        after = later.open(slot(fence=6), SPEC)
        assert after.desktop.probe().platform == "Linux"
        stale.close()
        later.close()

    def test_pod_with_another_token_is_not_used(self, place: PodCluster) -> None:
        worker = place.provider(k8s_instance_label="stranger")
        first = worker.open(slot(), SPEC)
        first.close()
        pod = place.cluster.pod(NAMESPACE, name_of(first))
        assert pod is not None
        held = held_by(worker, slot()).pod
        place.cluster.replace(NAMESPACE, name_of(first))
        until(lambda: worker.pods().status(held).why, 20)
        again = worker.open(slot(), SPEC)
        assert again.details["pod_uid"] != first.details["pod_uid"]
        assert again.desktop.probe().platform == "Linux"
        worker.close()


@pytest.mark.sampled(1)
class TestTakenAway:
    @pytest.mark.parametrize(
        ("behaviour", "words"),
        [
            (evicted(), "the pod was evicted: The node was low on resource"),
            (oom_killed(), "the pod was killed for its memory: OOMKilled"),
        ],
    )
    def test_pod_lost_during_an_attempt_is_a_cluster_loss(
        self, place: PodCluster, provider: K8sProvider, behaviour: object, words: str
    ) -> None:
        opened = pod_desktop(provider.open(slot(3), SPEC))
        place.cluster.run(NAMESPACE, name_of(opened)).follow(behaviour)  # type: ignore[arg-type]
        until(lambda: not opened.alive(), 20)
        assert words in opened.revocation_reason()
        opened.close()
        assert provider.open(slot(3), SPEC).alive(), "the slot gets another pod"

    def test_replaced_or_deleted_pod_is_a_cluster_loss(self, place: PodCluster, provider: K8sProvider) -> None:
        opened = pod_desktop(provider.open(slot(4), SPEC))
        place.cluster.replace(NAMESPACE, name_of(opened))
        until(lambda: not opened.alive(), 20)
        assert "another pod has its name" in opened.revocation_reason()
        opened.close()

    def test_death_of_qemu_is_a_guest_loss(self, opened: PodDesktop) -> None:
        os.kill(opened.vm.handle.pid, signal.SIGKILL)
        until(lambda: not opened.alive(), 20)
        assert opened.death_reason().startswith("QEMU exited")
        assert opened.revocation_reason() == ""


class TestWatch:
    def test_expired_watch_is_restarted(self, place: PodCluster, provider: K8sProvider) -> None:
        opened = pod_desktop(provider.open(slot(7), SPEC))
        place.cluster.compact()
        place.cluster.api.cut_watches()
        place.cluster.run(NAMESPACE, name_of(opened)).follow(evicted())
        until(lambda: not opened.alive(), 30)
        assert "evicted" in opened.revocation_reason()
        opened.close()


class TestClose:
    def test_close_removes_all_pods_and_secrets(self, place: PodCluster) -> None:
        worker = place.provider(k8s_instance_label="gone")
        held = pod_desktop(worker.open(slot(), SPEC)).vm.handle
        worker.close()
        worker.close()
        assert [pod for pod in place.named() if pod["metadata"]["labels"]["deskarena.dev/owner"] == "gone"] == []
        until(lambda: not psutil.pid_exists(held.pid))


@pytest.mark.sampled(1)
class TestAway:
    """An API server that fails rests no slot, because no slot is broken."""

    @pytest.fixture
    def worker(self, place: PodCluster) -> Iterator[K8sProvider]:
        made = place.provider(k8s_instance_label="away")
        yield made
        place.cluster.faults.clear()
        made.close()

    def test_server_that_resets_connections_marks_the_cluster_away(
        self, place: PodCluster, worker: K8sProvider
    ) -> None:
        assert worker.away() == ""
        place.cluster.faults.away = True
        place.cluster.api.cut_connections()
        with raises_code(ClusterSilent, "cluster_unavailable"):
            worker.open(slot(), SPEC)
        assert "does not respond" in worker.away()
        self.works_again(place, worker)

    def test_failing_pod_creation_marks_the_cluster_away(self, place: PodCluster, worker: K8sProvider) -> None:
        place.cluster.faults.fail("create", times=-1)
        with raises_code(ClusterSilent, "cluster_unavailable"):
            worker.open(slot(), SPEC)
        asked = place.asked()
        until(lambda: place.asked() > asked + 1, 20, what="it is asked again and again")
        assert worker.away()
        self.works_again(place, worker)

    def test_failure_of_one_pod_does_not_mark_the_cluster_away(self, place: PodCluster, worker: K8sProvider) -> None:
        place.cluster.script(crash_loop())
        try:
            with pytest.raises(ClusterLost):
                worker.open(slot(), SPEC)
        finally:
            place.cluster.script(running(place.pods.start))
        assert worker.away() == ""

    def test_slot_is_neither_warmed_nor_paused_while_the_cluster_is_away(
        self, place: PodCluster, worker: K8sProvider
    ) -> None:
        place.cluster.faults.fail("create", times=-1)
        worker.prepare(slot(), SPEC)
        until(worker.away, 20)
        until(lambda: not worker.warming(), 20)
        self.works_again(place, worker)

    @staticmethod
    def works_again(place: PodCluster, worker: K8sProvider) -> None:
        place.cluster.faults.clear()
        until(lambda: not worker.away(), 30, what="it is known that the server answers again")
        until(lambda: worker.troubles() == {}, what="no slot rests")
        worker.open(slot(), SPEC).close()


class TestAvailability:
    def test_image_with_templates_per_node_is_not_called_unprepared(self, provider: K8sProvider) -> None:
        (image,) = provider.availability().images
        assert image.prepared is None
        assert not image.reason

    def test_reason_names_missing_settings(self, place: PodCluster) -> None:
        assert "set DESKARENA_K8S_POD_IMAGE" in K8sProvider(place.settings(k8s_pod_image="")).availability().reason
        wrong = K8sProvider(place.settings(k8s_template_volume="host:/var"))
        assert "'host:/var' is not a valid volume" in wrong.availability().reason
        wrong.close()

    def test_reason_names_missing_rights(self, place: PodCluster) -> None:
        place.cluster.add_token("poor", "deskarena-worker")
        kubeconfig = place.cluster.kubeconfig(place.data / "poor", token="poor", namespace=NAMESPACE)
        poor = K8sProvider(place.settings(KUBECONFIG=str(kubeconfig)))
        assert 'cannot create resource "pods"' in poor.availability().reason
        poor.close()

    def test_unreachable_cluster_is_reported(self, place: PodCluster) -> None:
        nobody = place.data / "nobody"
        nobody.write_text(place.kubeconfig.read_text().replace(place.cluster.address, "http://127.0.0.1:1"))
        lost = K8sProvider(place.settings(KUBECONFIG=str(nobody)))
        assert "the API server does not respond" in lost.availability().reason
        assert lost.troubles() is None, "nothing is known of slots"
        lost.close()


class TestSweep:
    def test_unrenewed_pod_is_removed_after_its_deadline(
        self, place: PodCluster, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from worker.providers import k8s

        monkeypatch.setattr(k8s, "SWEEP_SECONDS", 0.1)
        monkeypatch.setattr(k8s, "LOOK_SECONDS", 0.1)
        place.cluster.script(running(place.pods.start))
        dead = place.provider(k8s_instance_label="orphan", k8s_idle_seconds=30, KUBECONFIG=place.own_kubeconfig("dead"))
        name = name_of(dead.open(slot(), SPEC))
        place.cluster.remove_token("dead")
        other = place.provider(k8s_instance_label="orphan", k8s_idle_seconds=30)
        pods = other.pods()
        assert pods.sweep() == []
        monkeypatch.setattr(pods, "plan", dataclasses.replace(pods.plan, idle=0.0))
        monkeypatch.setattr(pods, "now", lambda: time.time() + 3600)
        until(lambda: place.cluster.pod(NAMESPACE, name) is None, 20)
        other.close()
        dead.close()
