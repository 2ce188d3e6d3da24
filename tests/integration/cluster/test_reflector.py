"""A copy of the cluster's objects stays correct if the watch fails."""

import time
from collections.abc import Iterator
from threading import Lock

import pytest

from tests.fakes.kubernetes.cluster import FakeCluster
from tests.waiting import holds, until
from worker.k8s.client import Kubernetes
from worker.k8s.cluster import NODES, Object
from worker.k8s.reflector import Reflector


class Heard:
    """Reported changes, in order."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []
        self._lock = Lock()

    def __call__(self, kind: str, found: Object) -> None:
        with self._lock:
            self.told.append((kind, found["metadata"]["name"]))

    def wait(self, *expected: tuple[str, str]) -> None:
        """Waits for these reports, and fails on others. The copy is updated a moment earlier."""
        until(lambda: len(self.told) >= len(expected), what=str(expected))
        assert self.told == list(expected)


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def reflector(fake: FakeCluster, cluster: Kubernetes, heard: Heard) -> Iterator[Reflector]:
    """A reflector of nodes; n1 exists from the start."""
    fake.add_node("n1")
    made = Reflector(cluster, NODES, on_change=heard, seconds=5.0, first_pause=0.02)
    made.start()
    assert made.wait(60.0)
    yield made
    made.stop()


def names(reflector: Reflector) -> set[str]:
    return set(reflector.objects())


class TestReflector:
    def test_lists_then_hears_of_every_change(self, fake: FakeCluster, reflector: Reflector, heard: Heard) -> None:
        assert names(reflector) == {"n1"}
        fake.add_node("n2")
        until(lambda: names(reflector) == {"n1", "n2"})
        fake.cordon("n1")
        until(lambda: reflector.objects()["n1"]["spec"].get("unschedulable"))
        fake.delete_node("n2")
        until(lambda: names(reflector) == {"n1"})
        heard.wait(("ADDED", "n1"), ("ADDED", "n2"), ("MODIFIED", "n1"), ("DELETED", "n2"))

    def test_changes_missed_by_a_cut_watch_are_reported(
        self, fake: FakeCluster, reflector: Reflector, heard: Heard
    ) -> None:
        fake.faults.away = True
        fake.api.cut_watches()
        until(lambda: reflector.trouble)
        fake.delete_node("n1")
        fake.add_node("n3")
        assert names(reflector) == {"n1"}
        fake.faults.clear()
        until(lambda: names(reflector) == {"n3"} and not reflector.trouble)
        assert {("DELETED", "n1"), ("ADDED", "n3")} <= set(heard.told)

    def test_clock_stops_during_an_outage(self, fake: FakeCluster, reflector: Reflector) -> None:
        fake.faults.away = True
        fake.api.cut_watches()
        until(lambda: reflector.trouble)
        stood = reflector.well
        holds(lambda: reflector.well == stood, 1.0)
        cleared = time.monotonic()
        fake.faults.clear()
        until(lambda: not reflector.trouble)
        assert stood <= reflector.well <= stood + time.monotonic() - cleared, "nothing of the trouble is made up for"
        until(lambda: reflector.well >= stood + 0.9)

    def test_a_version_that_is_too_old_is_listed_again(
        self, fake: FakeCluster, reflector: Reflector, heard: Heard
    ) -> None:
        fake.faults.away = True
        fake.api.cut_watches()
        until(lambda: reflector.trouble)
        fake.add_node("n4")
        fake.cordon("n4")
        fake.compact()
        fake.faults.clear()
        until(lambda: names(reflector) == {"n1", "n4"} and not reflector.trouble)
        assert heard.told.count(("ADDED", "n4")) == 1

    def test_recreated_object_is_a_new_one(self, fake: FakeCluster, reflector: Reflector, heard: Heard) -> None:
        first = reflector.objects()["n1"]["metadata"]["uid"]
        fake.faults.away = True
        fake.api.cut_watches()
        until(lambda: reflector.trouble)
        fake.delete_node("n1")
        fake.add_node("n1")
        fake.faults.clear()
        heard.wait(("ADDED", "n1"), ("DELETED", "n1"), ("ADDED", "n1"))
        assert reflector.objects()["n1"]["metadata"]["uid"] != first

    def test_stops_at_once(self, reflector: Reflector) -> None:
        assert reflector.stop(2.0), "its thread has ended"
