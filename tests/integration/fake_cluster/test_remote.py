"""Scripted kubelets that join an API server over HTTP: here the fake one, whose own kubelet of that node is silent."""

import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.contract.clusters import pod
from tests.fakes.kubernetes.behaviours import oom_killed, running
from tests.fakes.kubernetes.cluster import FakeCluster, fake_cluster
from tests.fakes.kubernetes.kinds import LEASES, NODES, PODS, Json
from tests.fakes.kubernetes.lifecycle import delete
from tests.fakes.kubernetes.remote import HELD, ScriptedNodes, scripted_nodes
from tests.waiting import until

HERE = ("desks", "vm")


@pytest.fixture
def cluster() -> Iterator[FakeCluster]:
    with fake_cluster() as found:
        for name in ("desks", HELD):
            found.add_namespace(name)
        found.kubelets.away.add("node-1")
        yield found


@pytest.fixture
def nodes(cluster: FakeCluster, tmp_path: Path) -> Iterator[ScriptedNodes]:
    with scripted_nodes(cluster.kubeconfig(tmp_path / "kubeconfig")) as joined:
        joined.kubelets.default = running(lines=("hello",))
        joined.add_node("node-1", kvm=1)
        yield joined


def phase(cluster: FakeCluster) -> str:
    found = cluster.pod(*HERE)
    return str(found["status"].get("phase")) if found else "gone"


def made(cluster: FakeCluster, nodes: ScriptedNodes) -> Json:
    """A pod that runs."""
    found = cluster.create(pod("vm"), "desks")
    until(lambda: phase(cluster) == "Running")
    assert nodes.run(*HERE).node == "node-1"
    return found


@pytest.mark.sampled(4)
class TestRemote:
    def test_a_pod_runs_says_so_and_ends(self, cluster: FakeCluster, nodes: ScriptedNodes) -> None:
        made(cluster, nodes)
        assert cluster.events("vm", "Started")
        delete(cluster.store, PODS, HERE)
        until(lambda: phase(cluster) == "gone")
        until(lambda: not nodes.kubelets.runs, what="the kubelet has let it go")

    def test_nodes_outlive_a_failure_of_the_server(self, cluster: FakeCluster, nodes: ScriptedNodes) -> None:
        beats, lists = cluster.faults.fail("update", path="leases"), cluster.faults.fail("list", path="pods")
        until(lambda: beats.times == 0, what="a lease is renewed")
        # Newer than their list in any case: what is as new as the list may be watched from.
        cluster.add_namespace("later")
        cluster.compact()
        until(lambda: lists.times == 0, 20.0, what="pods are listed again")
        made(cluster, nodes)
        busy = cluster.faults.throttle("update", path="leases")
        until(lambda: busy.times == 0, what="a lease is renewed")
        before = cluster.store.get(LEASES, (HELD, "node-1"))
        until(lambda: cluster.store.get(LEASES, (HELD, "node-1")) != before, what="the lease is renewed again")

    def test_a_script_ends_it(self, cluster: FakeCluster, nodes: ScriptedNodes) -> None:
        made(cluster, nodes)
        nodes.run(*HERE).follow(oom_killed())
        until(lambda: phase(cluster) == "Failed")

    def test_logs_are_served_like_a_kubelet(self, cluster: FakeCluster, nodes: ScriptedNodes) -> None:
        made(cluster, nodes)
        node = cluster.store.get(NODES, ("", "node-1"))
        assert node is not None
        port = node["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"]
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        address = f"https://127.0.0.1:{port}/containerLogs/desks/vm/main"
        assert httpx.get(address, verify=context, timeout=60).text == "hello\n"
        assert httpx.get(address, params={"tailLines": "0"}, verify=context, timeout=60).text == ""

    def test_a_node_renews_its_lease_until_it_is_lost(self, cluster: FakeCluster, nodes: ScriptedNodes) -> None:
        def renewed() -> str:
            found = cluster.store.get(LEASES, (HELD, "node-1"))
            assert found is not None
            return str(found["spec"]["renewTime"])

        first = renewed()
        until(lambda: renewed() != first)
        nodes.lose("node-1")
        run_before = cluster.create(pod("vm"), "desks")
        until(lambda: run_before["metadata"]["uid"] in nodes.kubelets.runs)
        assert phase(cluster) == "Pending", "nobody hears its kubelet"
        nodes.find("node-1")
        until(lambda: phase(cluster) == "Running")

    def test_a_pod_that_is_given_to_a_node_while_it_joins_runs(self, cluster: FakeCluster, tmp_path: Path) -> None:
        cluster.create(pod("vm"), "desks")
        cluster.faults.slow(1.0, "create", path="leases")
        with scripted_nodes(cluster.kubeconfig(tmp_path / "other")) as joined:
            joined.add_node("node-1")
            until(lambda: phase(cluster) == "Running")

    def test_close_cleans_up_and_raises_the_error(self, cluster: FakeCluster, tmp_path: Path) -> None:
        def fails() -> None:
            raise KeyError("vm")

        joined = ScriptedNodes(cluster.kubeconfig(tmp_path / "other"))
        joined.add_node("node-9")
        joined.loop.soon(fails)
        until(lambda: joined.loop.failures)
        with pytest.raises(KeyError, match="vm"):
            joined.close()
        assert cluster.store.get(NODES, ("", "node-9")) is None

    def test_a_pod_is_let_go_once(self, cluster: FakeCluster, nodes: ScriptedNodes) -> None:
        uid, told = made(cluster, nodes)["metadata"]["uid"], threading.Event()
        nodes.loop.soon(told.wait)
        for _ in "watch", "list":
            nodes.kubelets.lost_sight(uid)
        told.set()
        until(lambda: not nodes.kubelets.runs, what="the kubelet has let it go")
        assert not nodes.loop.failures

    def test_ended_kubelet_removes_its_node(self, cluster: FakeCluster, tmp_path: Path) -> None:
        with scripted_nodes(cluster.kubeconfig(tmp_path / "other")) as joined:
            joined.add_node("node-9")
            assert cluster.store.get(NODES, ("", "node-9"))
        assert cluster.store.get(NODES, ("", "node-9")) is None
        assert cluster.store.get(LEASES, (HELD, "node-9")) is None
