"""What workers do in a cluster goes with the rights of deploy/k8s, and nothing else does."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.kubernetes.cluster import FakeCluster, fake_cluster
from tests.unit.deploy.built import kind
from tests.waiting import until
from worker.k8s.cluster import EVENTS, LEASES, NODES, PODS, SECRETS, Cluster, Refused, Resource
from worker.k8s.official import connect

SPACE, TOKEN = "deskarena-vms", "token-of-a-worker"
SAFE: dict[str, Any] = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def lease(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"holderIdentity": "worker-1", "leaseDurationSeconds": 10}}


@pytest.fixture
def fake() -> Iterator[FakeCluster]:
    with fake_cluster() as made:
        for found in kind("production", "Namespace"):
            made.create(found)
        made.add_node("node-1")
        yield made


def connected(fake: FakeCluster, folder: Path, *rights: dict[str, Any], namespace: str = SPACE) -> Cluster:
    """The product's own client, with these rights only."""
    fake.add_token(TOKEN, "worker", *rights, namespace=SPACE)
    return connect(str(fake.kubeconfig(folder / "config", token=TOKEN, namespace=namespace)), namespace)


class TestRights:
    def test_the_role_is_enough_for_pods_secrets_events_and_leases(self, fake: FakeCluster, tmp_path: Path) -> None:
        cluster = connected(fake, tmp_path, *kind("production", "Role"))
        container = {"name": "vm", "image": "vm", "securityContext": SAFE}
        pod = cluster.create(PODS, {"metadata": {"name": "vm-1"}, "spec": {"containers": [container]}})
        cluster.create(SECRETS, {"metadata": {"name": "vm-1"}, "stringData": {"token": "x"}})
        assert cluster.get(SECRETS, "vm-1")["data"]
        until(lambda: cluster.get(PODS, "vm-1")["status"].get("phase") == "Running")
        cluster.patch(PODS, "vm-1", {"metadata": {"annotations": {"deskarena.dev/worker": "1"}}})
        cluster.logs("vm-1")
        for resource in (PODS, EVENTS, LEASES):
            version = cluster.list(resource).version
            with cluster.watch(resource, version, seconds=1.0) as watching:
                assert all(change.type == "BOOKMARK" for change in watching) or resource is EVENTS
        made = cluster.create(LEASES, lease("slot-1"))
        made["spec"]["holderIdentity"] = "worker-2"
        cluster.replace(LEASES, made)
        cluster.patch(LEASES, "slot-1", {"spec": {"leaseDurationSeconds": 20}})
        assert cluster.delete(LEASES, "slot-1")
        assert cluster.delete(PODS, "vm-1", uid=pod["metadata"]["uid"])
        assert cluster.delete(SECRETS, "vm-1")

    @pytest.mark.parametrize(
        "resource", [SECRETS, NODES, Resource("configmaps"), Resource("namespaces", namespaced=False)]
    )
    def test_it_lists_no_secrets_nodes_or_others(self, fake: FakeCluster, tmp_path: Path, resource: Resource) -> None:
        cluster = connected(fake, tmp_path, *kind("production", "Role"))
        with pytest.raises(Refused, match="forbidden"):
            cluster.list(resource)

    def test_it_holds_in_no_other_namespace(self, fake: FakeCluster, tmp_path: Path) -> None:
        cluster = connected(fake, tmp_path, *kind("production", "Role"), namespace="deskarena")
        for resource in (PODS, SECRETS, LEASES):
            with pytest.raises(Refused, match="forbidden"):
                cluster.create(resource, {"metadata": {"name": "x"}})

    def test_nodes_are_read_and_not_changed(self, fake: FakeCluster, tmp_path: Path) -> None:
        cluster = connected(fake, tmp_path, *kind("production", "Role", "ClusterRole"))
        assert [node["metadata"]["name"] for node in cluster.list(NODES).items] == ["node-1"]
        with pytest.raises(Refused, match="forbidden"):
            cluster.patch(NODES, "node-1", {"metadata": {"labels": {"mine": "yes"}}})
