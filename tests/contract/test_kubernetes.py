"""What our code relies on in a Kubernetes API: on the fake cluster, and on a real one where KUBECONFIG names it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config

from tests.fakes.kubernetes.cluster import FakeCluster, fake_cluster
from tests.waiting import until

KVM = "devices.kubevirt.io/kvm"


@pytest.fixture
def cluster() -> Iterator[FakeCluster]:
    with fake_cluster() as found:
        found.add_namespace("desks")
        found.add_node("node-1", kvm=2)
        yield found


@pytest.fixture
def core(cluster: FakeCluster, tmp_path: Path) -> Iterator[client.CoreV1Api]:
    found: Any = config
    with found.new_client_from_config(str(cluster.kubeconfig(tmp_path / "kubeconfig"))) as api:
        yield client.CoreV1Api(api)


def pod(name: str) -> dict[str, Any]:
    container = {"name": "vm", "image": "vm:1", "resources": {"limits": {KVM: "1"}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container]}}


class TestPods:
    def test_as_many_run_as_there_are_devices(self, cluster: FakeCluster, core: Any) -> None:
        for number in range(3):
            core.create_namespaced_pod("desks", pod(f"vm-{number}"))
        until(lambda: core.read_namespaced_pod("vm-1", "desks").status.phase == "Running")
        said = until(lambda: cluster.events("vm-2", "FailedScheduling"))[0]["message"]
        assert said.startswith(f"0/1 nodes are available: 1 Insufficient {KVM}.")
        core.delete_namespaced_pod("vm-0", "desks")
        until(lambda: core.read_namespaced_pod("vm-2", "desks").status.phase == "Running")
