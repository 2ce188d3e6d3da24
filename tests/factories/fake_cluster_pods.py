"""A fake cluster whose pods run the real supervisor with QEMU, and providers that work in it."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from backend.config import Settings
from tests.factories.light_pods import LightPods, light_pods
from tests.factories.vm_pods import VmPods, vm_pods
from tests.fakes.kubernetes.behaviours import running
from tests.fakes.kubernetes.cluster import FakeCluster, fake_cluster
from tests.fakes.kubernetes.kinds import SECRETS
from tests.waiting import until
from worker.k8s.client import connect
from worker.k8s.cluster import PODS
from worker.providers.k8s import K8sProvider

NAMESPACE = "desktops"


@dataclasses.dataclass
class PodCluster:
    """A cluster of two nodes and what runs in it."""

    cluster: FakeCluster
    pods: VmPods | LightPods
    kubeconfig: Path
    data: Path

    def settings(self, **changed: Any) -> Settings:
        defaults = {
            "data_dir": self.data,
            "KUBECONFIG": str(self.kubeconfig),
            "k8s_pod_image": "registry.example/vm:1",
            "k8s_namespace": NAMESPACE,
            "k8s_start_seconds": 60,
            # One template for all pods: emulated on a busy machine, one takes half a minute.
            "k8s_template_volume": "claim:templates",
            **changed,
        }
        return Settings(**defaults)

    def provider(self, **changed: Any) -> K8sProvider:
        """A worker's provider that is ready to work."""
        k8s_provider = K8sProvider(self.settings(**changed))
        until(lambda: k8s_provider.availability().ok, 60, what=k8s_provider.availability().reason)
        return k8s_provider

    def own_kubeconfig(self, token: str) -> str:
        """A kubeconfig for one worker, which ends for the cluster when its token is removed."""
        self.cluster.add_admin(token)
        return str(self.cluster.kubeconfig(self.data / token, token=token, namespace=NAMESPACE))

    def named(self) -> list[dict[str, Any]]:
        """Pods that there are."""
        connection = connect(str(self.kubeconfig), NAMESPACE)
        try:
            return list(connection.list(PODS).items)
        finally:
            connection.close()

    def asked(self, verbs: frozenset[str] = frozenset({"create", "delete", "patch", "update", "get", "list"})) -> int:
        """How many requests were answered, watches aside."""
        return sum(1 for request in self.cluster.asked if request.verb in verbs)


def secret_of(cluster: FakeCluster) -> Callable[[str, str], Mapping[str, str] | None]:
    def find(namespace: str, name: str) -> Mapping[str, str] | None:
        secret = cluster.store.get(SECRETS, (namespace, name))
        return None if secret is None else secret["data"]

    return find


@contextmanager
def k8s_place(folder: Path, furnish: Callable[[Path], object]) -> Iterator[PodCluster]:
    """A cluster of two nodes that is gone at the end. Args: furnish: puts machine images into a folder."""
    with fake_cluster() as cluster, vm_pods(secret_of(cluster), furnish) as pods:
        _furnish(cluster, pods)
        yield PodCluster(cluster, pods, cluster.kubeconfig(folder / "kubeconfig", namespace=NAMESPACE), folder)


@contextmanager
def light_place(folder: Path) -> Iterator[PodCluster]:
    """The same with pods that have no machines, only guests that answer: up within a second."""
    with fake_cluster() as cluster, light_pods(secret_of(cluster)) as pods:
        _furnish(cluster, pods)
        yield PodCluster(cluster, pods, cluster.kubeconfig(folder / "kubeconfig", namespace=NAMESPACE), folder)


def _furnish(cluster: FakeCluster, pods: VmPods | LightPods) -> None:
    cluster.create(
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": NAMESPACE, "labels": {"pod-security.kubernetes.io/enforce": "restricted"}},
        }
    )
    for name in ("node-1", "node-2"):
        cluster.add_node(name, kvm=50)
    cluster.script(running(pods.start))
