"""Rights, pod security, quotas and size of the fake cluster, over HTTP where that is what counts."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.error_codes import raises_fields
from tests.fakes.kubernetes.cluster import FakeCluster, fake_cluster
from tests.fakes.kubernetes.kinds import KVM, PODS, Json
from tests.fakes.kubernetes.status import Refusal, forbidden
from tests.waiting import until
from worker.k8s.client import Kubernetes, connect
from worker.k8s.cluster import LEASES, NODES, SECRETS, RequestRefused
from worker.k8s.cluster import PODS as POD_KIND

ROLE: Json = {
    "kind": "Role",
    "rules": [
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch", "create", "delete"]},
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"], "resourceNames": ["ours"]},
    ],
}
READ_NODES: Json = {
    "kind": "ClusterRole",
    "rules": [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "watch"]}],
}


@pytest.fixture
def cluster() -> Iterator[FakeCluster]:
    with fake_cluster() as found:
        found.add_namespace("desks", {"pod-security.kubernetes.io/enforce": "restricted"})
        found.add_namespace("other")
        found.add_node("node-1", kvm=2)
        yield found


def pod(**spec: Any) -> Json:
    """A pod that the level `restricted` lets through."""
    security = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    container = {"name": "vm", "image": "vm:1", "securityContext": security}
    whole = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    found = {"containers": [container], "securityContext": whole, **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "vm"}, "spec": found}


class TestRights:
    @pytest.fixture
    def port(self, cluster: FakeCluster, tmp_path: Path) -> Iterator[Kubernetes]:
        cluster.add_token("t", "system:serviceaccount:desks:worker", ROLE, READ_NODES, namespace="desks")
        found = connect(str(cluster.kubeconfig(tmp_path / "config", token="t")), "desks")
        yield found
        found.close()

    def test_a_role_gives_what_it_names(self, port: Kubernetes) -> None:
        assert port.create(POD_KIND, pod())
        assert port.list(POD_KIND).items
        assert port.list(NODES).items
        assert port.delete(POD_KIND, "vm")

    def test_role_allows_nothing_else(self, cluster: FakeCluster, port: Kubernetes) -> None:
        user = 'User "system:serviceaccount:desks:worker" cannot'
        with raises_fields(
            RequestRefused,
            reason="Forbidden",
            mentions=f'pods "vm" is forbidden: {user} patch resource "pods" in API group ""',
        ):
            port.patch(POD_KIND, "vm", {})
        with raises_fields(
            RequestRefused, reason="Forbidden", mentions=f'pods/log "vm" is forbidden: {user} get resource "pods/log"'
        ):
            port.logs("vm")
        with raises_fields(
            RequestRefused, reason="Forbidden", mentions=f"leases.coordination.k8s.io is forbidden: {user} list"
        ):
            port.list(LEASES)
        with raises_fields(RequestRefused, reason="Forbidden", mentions="at the cluster scope"):
            port.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "mine"}})
        assert all(one.code == 403 for one in cluster.asked if one.user.startswith("system:serviceaccount"))

    def test_a_role_ends_at_its_namespace(self, cluster: FakeCluster, tmp_path: Path) -> None:
        cluster.add_token("t", "u", ROLE, namespace="desks")
        port = connect(str(cluster.kubeconfig(tmp_path / "config", token="t")), "other")
        with raises_fields(RequestRefused, reason="Forbidden", mentions='in the namespace "other"'):
            port.list(POD_KIND)
        port.close()

    def test_names_may_be_listed(self, cluster: FakeCluster, port: Kubernetes) -> None:
        for name in ("ours", "theirs"):
            cluster.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}}, "desks")
        assert port.get(SECRETS, "ours")
        with raises_fields(RequestRefused, reason="Forbidden", mentions='secrets "theirs" is forbidden'):
            port.get(SECRETS, "theirs")

    def test_no_token_no_answer(self, cluster: FakeCluster, tmp_path: Path) -> None:
        port = connect(str(cluster.kubeconfig(tmp_path / "config", token="wrong")), "desks")
        with raises_fields(RequestRefused, reason="Unauthorized") as caught:
            port.list(POD_KIND)
        assert caught.value.code == 401
        port.close()


class TestPodSecurity:
    def test_lets_a_good_pod_through(self, cluster: FakeCluster) -> None:
        assert cluster.create(pod(), "desks")

    @pytest.mark.parametrize(
        ("change", "expected"),
        [
            ({"hostNetwork": True}, "host namespaces (hostNetwork=true)"),
            ({"volumes": [{"name": "kvm", "hostPath": {"path": "/dev/kvm"}}]}, 'hostPath volumes (volume "kvm")'),
            ({"containers": [{"name": "vm", "image": "x"}]}, "allowPrivilegeEscalation != false"),
            ({"containers": [{"name": "vm", "image": "x"}]}, 'must set securityContext.capabilities.drop=["ALL"]'),
            ({"securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}}, "runAsNonRoot != true"),
            ({"securityContext": {"runAsNonRoot": True}}, 'seccompProfile (pod or container "vm" must set'),
            (
                {"containers": [{"name": "vm", "image": "x", "securityContext": {"privileged": True}}]},
                'privileged (container "vm" must not set securityContext.privileged=true)',
            ),
        ],
    )
    def test_says_what_is_broken(self, cluster: FakeCluster, change: Json, expected: str) -> None:
        with pytest.raises(Refusal) as caught:
            cluster.create(pod(**change), "desks")
        assert caught.value.code == 403
        assert 'pods "vm" is forbidden: violates PodSecurity "restricted:latest": ' in caught.value.message
        assert expected in caught.value.message

    def test_is_a_namespaces_own_matter(self, cluster: FakeCluster) -> None:
        assert cluster.create(pod(hostNetwork=True), "other")


class TestAdmission:
    def test_a_quota_says_what_it_counts(self, cluster: FakeCluster) -> None:
        quota = {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "q"},
            "spec": {"hard": {"pods": "1"}},
        }
        cluster.create(quota, "desks")
        cluster.create(pod(), "desks")
        second = pod()
        second["metadata"]["name"] = "second"
        with pytest.raises(Refusal) as caught:
            cluster.create(second, "desks")
        assert caught.value.message == (
            'pods "second" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1'
        )

    def test_devices_are_counted_in_quotas(self, cluster: FakeCluster) -> None:
        hard = {f"requests.{KVM}": "1"}
        quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": hard}}
        cluster.create(quota, "other")
        limits = {"limits": {KVM: "2"}}
        with raises_fields(Refusal, code=403, mentions=f"requested: requests.{KVM}=2, used: requests.{KVM}=0"):
            cluster.create(pod(containers=[{"name": "vm", "image": "x", "resources": limits}]), "other")

    def test_a_tests_own_words(self, cluster: FakeCluster) -> None:
        cluster.admission.webhooks.append(
            lambda resource, _found: forbidden(PODS, "vm", "not today") if resource is PODS else None
        )  # fmt: skip
        with raises_fields(Refusal, code=403, mentions="not today"):
            cluster.create(pod(), "desks")

    def test_a_service_account_has_to_be_there(self, cluster: FakeCluster) -> None:
        with raises_fields(Refusal, code=403, mentions='service account desks/worker: serviceaccount "worker"'):
            cluster.create(pod(serviceAccountName="worker"), "desks")

    def test_the_accounts_token_is_mounted_unless_the_pod_says_no(self, cluster: FakeCluster) -> None:
        mounted = cluster.create(pod(), "desks")
        assert "projected" in mounted["spec"]["volumes"][0]
        bare = pod(automountServiceAccountToken=False)
        bare["metadata"]["name"] = "bare"
        assert "volumes" not in cluster.create(bare, "desks")["spec"]


class TestSize:
    def test_a_thousand_nodes_and_two_thousand_pods(self, cluster: FakeCluster) -> None:
        """As a simulator uses it; the bound is generous, for a machine that does other things, too."""
        begun = time.monotonic()
        for number in range(1000):
            cluster.add_node(f"n-{number:04}", kvm=2)
        limits = {"limits": {KVM: "1"}}
        spec = {
            "containers": [{"name": "vm", "image": "x", "resources": limits}],
            "automountServiceAccountToken": False,
        }
        for number in range(2000):
            about = {"name": f"vm-{number}"}
            cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": about, "spec": spec}, "other")
        until(lambda: running(cluster) == 2000, 120)
        assert time.monotonic() - begun < 120


def running(cluster: FakeCluster) -> int:
    return sum(one["status"]["phase"] == "Running" for one in cluster.store.all(PODS, "other"))
