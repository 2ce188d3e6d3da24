"""Which nodes pods are to leave, heard from a cluster of our own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.kubernetes.cluster import FakeCluster, fake_cluster
from tests.fakes.kubernetes.nodes import add_taint
from tests.waiting import until
from worker.k8s import draining_nodes
from worker.k8s.client import connect
from worker.k8s.cluster import Object
from worker.k8s.draining_nodes import GONE, DrainingNodes

CORDONED = "cordoned: no new pods are scheduled on it"


@pytest.fixture
def fake() -> Iterator[FakeCluster]:
    with fake_cluster() as made:
        made.add_node("n1")
        made.add_node("n2")
        yield made


def watching(fake: FakeCluster, folder: Path, **more: str) -> Iterator[DrainingNodes]:
    cluster = connect(str(fake.kubeconfig(folder / "kubeconfig", **more)), "default")
    made = DrainingNodes(cluster)
    made.start()
    yield made
    made.stop()
    cluster.close()


@pytest.fixture
def left(fake: FakeCluster, tmp_path: Path) -> Iterator[DrainingNodes]:
    for made in watching(fake, tmp_path):
        until(lambda made=made: not made.trouble)  # type: ignore[misc]
        yield made


@pytest.fixture
def refused(fake: FakeCluster, tmp_path: Path) -> Iterator[DrainingNodes]:
    """Of an account that may not read nodes."""
    fake.add_token("poor", "poor")
    yield from watching(fake, tmp_path, token="poor")


def pod(node: str = "n1", **spec: Any) -> Object:
    return {"metadata": {"name": "one", "uid": "1"}, "spec": {"nodeName": node, **spec}}


class TestWhy:
    def test_says_why_until_it_is_so_no_more(self, fake: FakeCluster, left: DrainingNodes) -> None:
        assert left.why(pod()) == ""
        fake.cordon("n1")
        until(lambda: left.why(pod()) == CORDONED)
        assert left.why(pod("n2")) == ""
        fake.cordon("n1", on=False)
        until(lambda: left.why(pod()) == "")

    def test_tolerated_taints_are_ignored(self, fake: FakeCluster, left: DrainingNodes) -> None:
        fake.nodes.change("n1", lambda node: add_taint(node, "team", "NoSchedule"))
        until(lambda: left.why(pod()) == "taint team:NoSchedule")
        assert left.why(pod(tolerations=[{"key": "team", "operator": "Exists"}])) == ""

    def test_a_node_that_was_removed_is_left_one_that_was_never_seen_is_not(
        self, fake: FakeCluster, left: DrainingNodes
    ) -> None:
        fake.delete_node("n1")
        until(lambda: left.why(pod()) == GONE)
        assert left.why(pod("newer")) == ""
        fake.add_node("n1")
        until(lambda: left.why(pod()) == "", what="it is there again")

    def test_removed_nodes_are_remembered_up_to_a_limit(
        self, fake: FakeCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(draining_nodes, "MOST_GONE", 1)
        for left in watching(fake, tmp_path):
            until(lambda left=left: not left.trouble)  # type: ignore[misc]
            fake.delete_node("n1")
            fake.delete_node("n2")
            until(lambda left=left: left.why(pod("n2")) == GONE)  # type: ignore[misc]
            assert left.why(pod("n1")) == ""

    def test_a_pod_that_has_no_node_yet_leaves_none(self, left: DrainingNodes) -> None:
        assert left.why({"metadata": {}, "spec": {}}) == ""

    def test_stale_node_states_are_ignored(
        self, fake: FakeCluster, left: DrainingNodes, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fake.cordon("n1")
        until(lambda: left.why(pod()) == CORDONED)
        fake.faults.away = True
        fake.api.cut_connections()
        until(lambda: left.trouble)
        assert left.why(pod()) == CORDONED, "as it was last seen"
        monkeypatch.setattr(draining_nodes, "OLD_SECONDS", 0.0)
        assert left.why(pod()) == ""

    def test_forbidden_node_access_drains_nothing(self, fake: FakeCluster, refused: DrainingNodes) -> None:
        fake.cordon("n1")
        until(lambda: "forbidden" in refused.trouble)
        assert refused.why(pod()) == ""
