"""A slot's pod from its making until it can be used: what a watch that says nothing, or a slow start, must not cost."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread, Timer
from typing import Any

import pytest

from backend.config import Settings
from backend.domain.machines.slots import SlotRef
from tests.error_codes import raises_code, raises_fields
from tests.factories.silent_watches import Deaf
from tests.fakes.kubernetes import fitting
from tests.fakes.kubernetes.behaviours import slow_start
from tests.fakes.kubernetes.cluster import FakeCluster
from tests.integration.cluster.conftest import NAMESPACE
from tests.waiting import holds, until
from worker.k8s import manifests, pods
from worker.k8s.client import Kubernetes
from worker.k8s.cluster import Cluster, ClusterUnavailable
from worker.k8s.manifests import PodResources
from worker.k8s.plan import PodPlan, Volume
from worker.k8s.pod_watch import PodWatch
from worker.k8s.pods import Pods

PLAN = PodPlan.from_settings(
    Settings(k8s_pod_image="registry.example/vm:1", k8s_image_volume="image:images:1", k8s_template_volume="empty:1Gi")
)
SLOT, ROOM = SlotRef(0, "n1", "s1", 1), PodResources(64, 0.1)
NAME = manifests.pod_name(PLAN, SLOT)


@contextmanager
def working(
    cluster: Cluster, start_seconds: float = 20.0, *, now: Callable[[], float] = time.time, **plan: Any
) -> Iterator[Pods]:
    """A worker's pods."""
    made = PodPlan(**{**vars(PLAN), **plan})
    watch = PodWatch(cluster, manifests.selector(made))
    watch.start()
    assert watch.listed(10)
    try:
        yield Pods(cluster, watch, made, worker="w1", start_seconds=start_seconds, now=now)
    finally:
        watch.close()


@pytest.fixture(autouse=True)
def _node(fake: FakeCluster) -> None:
    fake.add_node("n1", kvm=2)


@pytest.mark.sampled(1)
class TestBehindASilentWatch:
    @pytest.fixture(autouse=True)
    def _soon(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pods, "SEE_SECONDS", 0.5)
        monkeypatch.setattr(pods, "SILENT_SECONDS", 2.0, raising=False)

    def test_a_pod_is_had_once_the_watch_is_known_to_be_broken(
        self, fake: FakeCluster, cluster: Kubernetes, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pods, "SILENT_SECONDS", 20.0, raising=False)
        deaf = Deaf(cluster)
        with working(deaf) as made:
            timer = Timer(1.0, deaf.hear)
            timer.start()
            pod = made.take(SLOT, ROOM)
            timer.join()
            found = fake.pod(NAMESPACE, NAME)
            assert found is not None
            assert (pod.is_new, pod.uid) == (True, found["metadata"]["uid"])

    def test_a_pod_that_nobody_hears_of_is_left_to_its_deadline(self, fake: FakeCluster, cluster: Kubernetes) -> None:
        with working(Deaf(cluster)) as made, raises_fields(ClusterUnavailable, reason="no_watch"):
            made.take(SLOT, ROOM)
        found = fake.pod(NAMESPACE, NAME)
        assert found is not None
        assert "deletionTimestamp" not in found["metadata"]

    def test_stopping_worker_stops_waiting_for_the_pod(
        self, cluster: Kubernetes, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pods, "SILENT_SECONDS", 60.0, raising=False)
        with working(Deaf(cluster)) as made:
            Timer(1.0, made.end).start()
            with pytest.raises(pods.PodUnavailable):
                made.take(SLOT, ROOM)


@pytest.mark.sampled(1)
class TestSlowStart:
    @pytest.mark.parametrize("taken_over", [False, True])
    def test_a_pod_that_starts_longer_than_others_idle_is_not_swept(
        self, fake: FakeCluster, cluster: Kubernetes, *, taken_over: bool
    ) -> None:
        fake.script(slow_start(4.0))
        with working(cluster, idle=0.5) as made:
            if taken_over:
                # Its deadline, in whole seconds, comes before the pod is ready, and not before we have it.
                with working(cluster, 2.5, idle=0.5) as before:
                    before.create(SLOT, ROOM)  # And then its worker died.
            with sweeping(made.sweep) as swept:
                assert made.take(SLOT, ROOM).is_new is not taken_over
            assert swept == []


@pytest.mark.sampled(1)
class TestClone:
    WAITING = 'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-images".'
    CLONE = Volume("clone", "golden", "fast", "100Gi")

    @pytest.fixture(autouse=True)
    def _slow(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A cluster that makes claims of pods as slowly as nodes come."""
        monkeypatch.setattr(fitting, "sentence", lambda *_: self.WAITING)
        monkeypatch.setattr(pods, "PATIENCE_SECONDS", 0.2)

    def test_a_pod_waits_for_its_own_claim(self, fake: FakeCluster, cluster: Kubernetes) -> None:
        with working(cluster, images=self.CLONE) as made:
            timer = Timer(1.0, lambda: fake.add_node("n2", kvm=1))
            timer.start()
            pod = made.take(SlotRef(0, "n2", "s2", 1), ROOM)
            timer.join()
            found = fake.pod(NAMESPACE, pod.name)
            assert found is not None
            wanted = manifests.pod(made.plan, SLOT, ROOM, secret="", worker="", deadline=0.0)
            assert found["spec"]["volumes"][0] == wanted["spec"]["volumes"][0]

    def test_pod_without_its_own_clone_waits_only_for_a_node(self, cluster: Kubernetes) -> None:
        with (
            working(cluster, images=Volume("claim", "golden")) as made,
            raises_code(pods.PodUnavailable, "pod_not_ready", mentions="waiting"),
        ):
            made.take(SlotRef(0, "n2", "s2", 1), ROOM)


@pytest.mark.sampled(2)
class TestSweep:
    @pytest.fixture
    def left(self, fake: FakeCluster, cluster: Kubernetes) -> Iterator[Pods]:
        """Of a second worker, by whose clock the deadline of the only pod has passed; its idle time is 4 s."""
        with working(cluster) as dead:
            dead.take(SLOT, ROOM)
        # The deadline is an hour away.
        with working(cluster, idle=4.0, now=lambda: time.time() + 7200) as other:
            assert other.sweep() == []
            yield other

    def test_unrenewed_pod_is_removed(self, left: Pods) -> None:
        until(lambda: left.sweep() == [NAME], 20)

    def test_the_time_for_which_the_cluster_did_not_answer_counts_for_nothing(
        self, fake: FakeCluster, left: Pods
    ) -> None:
        first = time.monotonic()
        assert left.sweep() == []
        fake.faults.away = True
        fake.api.cut_watches()
        until(lambda: left.watch.trouble)
        gone = time.monotonic()
        holds(lambda: left.sweep() == [], 2.5)
        fake.faults.clear()
        back = time.monotonic()
        until(lambda: left.sweep() == [NAME], 20)
        assert (gone - first) + (time.monotonic() - back) >= 2.0, "whoever uses it could not renew it meanwhile"

    def test_a_pod_that_could_not_be_removed_is_looked_at_for_as_long_again(
        self, fake: FakeCluster, left: Pods
    ) -> None:
        fault = fake.faults.fail("delete", path="/pods/")
        until(lambda: left.sweep() or not fault.times, 20)
        assert left.sweep() == [], "where this could not be done, others could not renew either"
        until(lambda: left.sweep() == [NAME], 20)

    def test_pods_that_are_spared_stay(self, fake: FakeCluster, left: Pods) -> None:
        found = fake.pod(NAMESPACE, NAME)
        assert found is not None
        holds(lambda: left.sweep({found["metadata"]["uid"]}) == [], 2.5)
        until(lambda: left.sweep() == [NAME], 20)


@contextmanager
def sweeping(sweep: Callable[[], list[str]]) -> Iterator[list[str]]:
    """Meanwhile, again and again. Yields what was swept."""
    over, swept = Event(), list[str]()

    def again() -> None:
        while not over.wait(0.1):
            swept.extend(sweep())

    thread = Thread(target=again, daemon=True)
    thread.start()
    try:
        yield swept
    finally:
        over.set()
        thread.join(60)
