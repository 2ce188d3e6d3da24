"""Workers' requests in a cluster are allowed by the rights of deploy/k8s, and nothing else is."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.error_codes import raises_fields
from tests.fakes.kubernetes.cluster import FakeCluster, fake_cluster
from tests.unit.deploy.built import kind
from tests.waiting import until
from worker.k8s.client import connect
from worker.k8s.cluster import CLAIMS, EVENTS, LEASES, NODES, PODS, SECRETS, Cluster, RequestRefused, ResourceKind

ROOT = Path(__file__).resolve().parents[3]
NOT_WORKERS = {"cluster.py", "client.py", "preflight.py"}
"""The port itself, and what `deskarena doctor` asks with whatever rights it has."""
RESOURCES = {"PODS": PODS, "SECRETS": SECRETS, "EVENTS": EVENTS, "LEASES": LEASES, "NODES": NODES, "CLAIMS": CLAIMS}
SPACE, TOKEN = "deskarena-vms", "token-of-a-worker"
SAFE: dict[str, Any] = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def called() -> dict[str, set[str]]:
    """Requests of the workers' code to a cluster: verbs by resource."""
    files = [*(ROOT / "worker" / "k8s").glob("*.py"), *(ROOT / "worker" / "providers").glob("*.py")]
    text = "\n".join(file.read_text() for file in files if file.name not in NOT_WORKERS)
    found: dict[str, set[str]] = {}
    for call, name in re.findall(r"cluster\.(\w+)\(\s*([A-Z]+)\b", text):
        found.setdefault(RESOURCES[name].plural, set()).add({"replace": "update"}.get(call, call))
    for name in re.findall(r"Reflector\(\s*[\w.]+, ([A-Z]+)\b", text):
        found.setdefault(RESOURCES[name].plural, set()).update({"list", "watch"})
    if re.search(r"cluster\.logs\(", text):
        found["pods/log"] = {"get"}
    return found


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
        for resource in (PODS, EVENTS):
            version = cluster.list(resource).version
            with cluster.watch(resource, version, seconds=1.0) as watching:
                assert {change.type for change in watching} <= {"BOOKMARK", "ADDED", "MODIFIED"}
        made = cluster.create(LEASES, lease("slot-1"))
        made["spec"]["holderIdentity"] = "worker-2"
        cluster.replace(LEASES, made)
        assert cluster.list(LEASES).items
        assert cluster.delete(LEASES, "slot-1")
        assert cluster.delete(PODS, "vm-1", uid=pod["metadata"]["uid"])

    def test_the_role_grants_exactly_the_calls_of_workers(self) -> None:
        (role,) = kind("production", "Role")
        granted = {resource: set(rule["verbs"]) for rule in role["rules"] for resource in rule["resources"]}
        assert granted == {resource: verbs for resource, verbs in called().items() if resource != "nodes"}

    def test_the_page_names_the_same(self) -> None:
        page = (ROOT / "docs" / "internals" / "kubernetes.md").read_text()
        (row,) = re.findall(r"^\| rights \| (.*) \|$", page, re.MULTILINE)
        told = {name: set(verbs.split(", ")) for name, verbs in re.findall(r"`(\w+)` \(([a-z, ]+)\)", row)}
        # Read by a reflector; `get` is what kubectl's own reading asks for.
        assert told == {**called(), "nodes": {"get", "list", "watch"}}

    def test_secrets_stay_and_logs_are_not_read(self, fake: FakeCluster, tmp_path: Path) -> None:
        cluster = connected(fake, tmp_path, *kind("production", "Role"))
        for ask in (lambda: cluster.logs("vm-1"), lambda: cluster.delete(SECRETS, "vm-1")):
            with raises_fields(RequestRefused, reason="Forbidden"):
                ask()

    @pytest.mark.parametrize(
        "resource", [SECRETS, NODES, ResourceKind("configmaps"), ResourceKind("namespaces", namespaced=False)]
    )
    def test_role_lists_no_secrets_or_nodes(self, fake: FakeCluster, tmp_path: Path, resource: ResourceKind) -> None:
        cluster = connected(fake, tmp_path, *kind("production", "Role"))
        with raises_fields(RequestRefused, reason="Forbidden"):
            cluster.list(resource)

    def test_role_is_limited_to_its_namespace(self, fake: FakeCluster, tmp_path: Path) -> None:
        cluster = connected(fake, tmp_path, *kind("production", "Role"), namespace="deskarena")
        for resource in (PODS, SECRETS, LEASES):
            with raises_fields(RequestRefused, reason="Forbidden"):
                cluster.create(resource, {"metadata": {"name": "x"}})

    def test_nodes_are_read_and_not_changed(self, fake: FakeCluster, tmp_path: Path) -> None:
        cluster = connected(fake, tmp_path, *kind("production", "Role", "ClusterRole"))
        assert [node["metadata"]["name"] for node in cluster.list(NODES).items] == ["node-1"]
        with raises_fields(RequestRefused, reason="Forbidden"):
            cluster.patch(NODES, "node-1", {"metadata": {"labels": {"mine": "yes"}}})
