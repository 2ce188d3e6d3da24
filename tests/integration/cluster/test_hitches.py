"""Pods that a node cannot set up: their attempts are lost to the cluster at once, and what is normal harms nobody."""

from collections.abc import Iterator

import pytest

from backend.db.models import Attempt, Run
from backend.domain.machines.nodes import NodeReport, NodeState
from backend.domain.machines.slots import SlotRef
from backend.domain.model.run import Budget
from backend.domain.ports.desktop import DesktopSpec
from backend.services.capacity import nodes
from tests.factories.claims import infeasible_task
from tests.factories.fake_cluster_pods import PodCluster
from tests.factories.light_guest import SCREEN
from tests.factories.records import World
from tests.fakes.kubernetes.behaviours import mount_failed, running, secret_awaited
from tests.integration.worker.in_process import InProcessWorker, attempts, benchmark_of, episodes, finished
from tests.waiting import until
from worker.k8s import pod_status, pods
from worker.k8s.manifests import PodResources
from worker.providers.k8s import K8sProvider

WORDS = "mount.nfs: the shelf is not there"
SPEC = DesktopSpec(screen=SCREEN)
SLOT = SlotRef(0, "node-1", "slot-1", 1)


@pytest.fixture
def provider(place: PodCluster) -> Iterator[K8sProvider]:
    """One whose pods may start longer than a test takes."""
    made = place.provider(k8s_start_seconds=300)
    yield made
    made.close()


@pytest.fixture
def worker(place: PodCluster, provider: K8sProvider, ready: World) -> Iterator[InProcessWorker]:
    """Of one slot on one node."""
    seen = NodeReport(name="node-1", state=NodeState.READY, slots=1)
    ready.do(nodes.observe, provider.cluster, [seen], whole=True)
    settings = place.settings(slots=1, poll_seconds=0.1, heartbeat_seconds=0.2, lease_seconds=5.0)
    made = InProcessWorker(settings, ready, provider)
    yield made
    made.stop()


def submit(world: World) -> Run:
    world.benchmark(benchmark_of(infeasible_task()), name="light")
    return world.submit("noop", benchmark="light", provider="k8s", screen=SCREEN, budget=Budget(max_steps=1))


def tries(world: World, run: Run) -> list[Attempt]:
    (episode,) = episodes(world, run.id)
    return attempts(world, episode.id)


def hitches(place: PodCluster) -> int:
    """Number of pods that the kubelets reported."""
    return sum(each["count"] for each in place.cluster.events(reason="FailedMount"))


@pytest.mark.sampled(1)
class TestMount:
    @pytest.mark.usefixtures("worker")
    def test_the_attempt_is_lost_to_the_cluster_within_the_patience_and_tried_again_once_the_volume_is_there(
        self, place: PodCluster, ready: World
    ) -> None:
        script = place.cluster.script(mount_failed(WORDS))
        run = submit(ready)
        lost = until(
            lambda: [each for each in tries(ready, run) if each.state == "lost"], 60, what="the first try is given up"
        )[0]
        assert lost.failure_class == "cluster"
        said = f'FailedMount: MountVolume.SetUp failed for volume "images" : {WORDS}'
        assert f"the pod's volumes are not available: {said}" in lost.failure_message
        assert lost.ended_at is not None
        took = (lost.ended_at - lost.started_at).total_seconds()
        assert took < pod_status.HITCH_SECONDS + pods.PATIENCE_SECONDS + 15, "of the 300 s that a start may take"
        (pod,) = place.named()
        assert not pod["metadata"].get("deletionTimestamp"), "the kubelet tries on"
        script.times = 0
        place.cluster.run(pod["metadata"]["namespace"], pod["metadata"]["name"]).follow(running(place.pods.start))
        assert [each.state for each in finished(ready, run.id, 60)] == ["scored"]
        assert [each.desktop.get("pod_uid") for each in tries(ready, run)][-1] == pod["metadata"]["uid"]
        assert {each.failure_class for each in tries(ready, run)} == {"cluster", None}

    def test_it_is_over_once_the_container_runs(
        self, place: PodCluster, provider: K8sProvider, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pod_status, "HITCH_SECONDS", 1.0)
        # Ten tries take some five seconds here, as long as a worker is patient: it does not lose its attempt.
        place.cluster.script(mount_failed(WORDS, times=9, follow_up=running(place.pods.start)))
        monkeypatch.setattr(pods, "PATIENCE_SECONDS", 30.0)
        provider.prepare(SLOT, SPEC)
        until(provider.troubles, 20, what="it is a trouble meanwhile")
        until(lambda: not provider.troubles(), 20, what="it is over")
        until(lambda: not provider.warming(), 20)
        opened = provider.open(SLOT, SPEC)
        assert opened.alive()
        assert provider.slots.is_good(provider.slots.all()[SLOT], SPEC), "it says nothing against the pod"


class TestSecret:
    """A pod's Secret is created just after the pod, because it needs its owner's UID."""

    @pytest.fixture(autouse=True)
    def _as_kubelets_do(self, place: PodCluster) -> None:
        place.cluster.script(secret_awaited(running(place.pods.start)))

    def test_a_short_delay_is_not_reported(self, place: PodCluster, provider: K8sProvider) -> None:
        place.cluster.faults.slow(1.0, "create", path="/secrets", times=1)
        provider.prepare(SLOT, SPEC)
        until(lambda: hitches(place), 20, what="the kubelet has missed it")
        told = []

        def is_had() -> bool:
            told.append(provider.troubles())
            return not provider.warming()

        until(is_had, 20)
        assert [each for each in told if each] == []
        assert provider.open(SLOT, SPEC).alive()

    def test_a_pod_whose_worker_died_before_it_is_replaced_by_whoever_has_the_slot_next(
        self, place: PodCluster, provider: K8sProvider, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pod_status, "ORPHAN_SECONDS", 2.0)
        inventory = provider.pods()
        left = inventory.create(SLOT, PodResources(64, 0.1))["metadata"]  # And then its worker died.
        pod = pods.Pod(left["name"], left["uid"], "node-1", "", SLOT.fence, "", is_new=True)
        until(lambda: inventory.status(pod).cause is pod_status.Cause.ORPHANED, 20)
        assert provider.troubles() == {}, "the slot may be leased"
        opened = provider.open(SLOT, SPEC)
        assert opened.alive()
        assert opened.details["pod_uid"] != left["uid"]
