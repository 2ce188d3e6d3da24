"""The clusters that the Kubernetes contract is checked on: the fake one, and a real one that the environment names."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.fakes.kubernetes.behaviours import running
from tests.fakes.kubernetes.cluster import FakeCluster, fake_cluster
from tests.fakes.kubernetes.raw import Raw, RawAnswer
from tests.waiting import until
from worker.k8s.client import Kubernetes, connect
from worker.k8s.cluster import EVENTS, PODS, Object, ObjectNotFound, ResourceKind

REAL = os.environ.get("DESKARENA_TEST_KUBECONFIG", os.environ.get("KUBECONFIG", ""))
# Something small that a real cluster can pull and that has a shell.
IMAGE = os.environ.get("DESKARENA_TEST_POD_IMAGE", "busybox:1.36")
NAMESPACES = ResourceKind("namespaces", namespaced=False)
# A real cluster pulls images and ends pods in its own time.
SECONDS = 60.0
MERGE, STRATEGIC, STEPS = (
    f"application/{kind}+json" for kind in ("merge-patch", "strategic-merge-patch", "json-patch")
)


@dataclass
class ClusterNamespace:
    """A cluster with a namespace of the test's own.

    Attributes:
        port: what the product speaks to it through.
        fake: None for a real one.
        file: its kubeconfig.
    """

    port: Kubernetes
    fake: FakeCluster | None
    file: Path
    raw: Raw

    def path(self, resource: ResourceKind, *rest: str) -> str:
        """Path of a resource of the namespace, of one object or of its subresource."""
        return "/".join([f"{resource.root}/namespaces/{self.port.namespace}/{resource.plural}", *rest])

    def ask(self, method: str, path: str, body: Any = None, **how: Any) -> RawAnswer:
        """A request as it is, for what the port has no word for."""
        return self.raw.ask(method, path, body, **how)

    def needs(self, minor: int, what: str) -> None:
        """Skips a test on a cluster that is older than 1.`minor`, the first version that has `what`."""
        if self.minor < minor:
            pytest.skip(f"needs Kubernetes 1.{minor}, and this is 1.{self.minor}: {what}")

    @property
    def minor(self) -> int:
        """The second number of the server's version."""
        return self.raw.minor()

    def has_its_account(self) -> bool:
        """Pods are refused until the namespace has its account; before 1.24 its token lay in a Secret."""
        accounts = ResourceKind("serviceaccounts")
        return not self.gone(accounts, "default") and (
            self.minor >= 24 or "secrets" in self.port.get(accounts, "default")
        )

    def only_fake(self) -> FakeCluster:
        """The fake, or the test is skipped: a real cluster does not do such things on demand."""
        if self.fake is None:
            pytest.skip("needs the fake cluster: a real one does not do this on demand")
        return self.fake

    def running(self, name: str, **spec: Any) -> Object:
        """A pod that runs and is ready; its shell says `hello`."""
        self.port.create(PODS, pod(name, **spec))
        return until(lambda: self.ready(name), SECONDS, what=f"{name} is not ready")

    def ready(self, name: str) -> Object:
        """The pod, once it is ready; empty before."""
        found = self.port.get(PODS, name)
        conditions = (found.get("status") or {}).get("conditions") or []
        return found if any(one["type"] == "Ready" and one["status"] == "True" for one in conditions) else {}

    def gone(self, resource: ResourceKind, name: str) -> bool:
        """Whether there is no such object any more."""
        try:
            self.port.get(resource, name)
        except ObjectNotFound:
            return True
        return False

    def events(self, name: str, reason: str) -> list[Object]:
        """Reasons of an object's events."""
        listed = self.port.list(EVENTS, fields=f"involvedObject.name={name},reason={reason}")
        return list(listed.items)


def pod(name: str, **spec: Any) -> Object:
    """A pod that does nothing for a long time."""
    command = ["sh", "-c", "trap 'exit 0' TERM; echo hello; while :; do sleep 0.1; done"]
    container = {"name": "main", "image": IMAGE, "command": command}
    whole = {"containers": [container], "terminationGracePeriodSeconds": 5, "restartPolicy": "Never"}
    # As the product's pods: a cluster that has not made the account's token yet takes it all the same.
    whole |= {"automountServiceAccountToken": False, **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": whole}


def secret(name: str, **metadata: Any) -> Object:
    """A small object that nobody acts on."""
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, **metadata}, "stringData": {"a": "b"}}


def lease(name: str, holder: str, **metadata: Any) -> Object:
    """A hold."""
    spec = {"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": "2026-01-01T00:00:00.000000Z"}
    about = {"name": name, **metadata}
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": about, "spec": spec}


@contextmanager
def on_the_fake(folder: Path) -> Iterator[ClusterNamespace]:
    """The fake with one node."""
    with fake_cluster(bookmarks=0.2) as fake:
        namespace = f"deskarena-test-{uuid4().hex[:8]}"
        fake.add_namespace(namespace)
        fake.add_node("node-1")
        fake.kubelets.default = running(lines=("hello",))
        file = fake.kubeconfig(folder / "kubeconfig", namespace=namespace)
        with _place(file, namespace, fake) as place:
            yield place


@contextmanager
def on_a_real_one(file: Path) -> Iterator[ClusterNamespace]:
    """The cluster of a kubeconfig, with a namespace that is deleted at the end."""
    namespace = f"deskarena-test-{uuid4().hex[:8]}"
    with _place(file, namespace, None) as place:
        made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
        place.port.create(NAMESPACES, made)
        try:
            until(place.has_its_account, SECONDS)
            yield place
        finally:
            place.port.delete(NAMESPACES, namespace)


@contextmanager
def _place(file: Path, namespace: str, fake: FakeCluster | None) -> Iterator[ClusterNamespace]:
    port, raw = connect(str(file), namespace), Raw(file)
    try:
        yield ClusterNamespace(port, fake, file, raw)
    finally:
        port.close()
        raw.close()


@pytest.fixture(params=["fake", *(["real"] if REAL else [])])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ClusterNamespace]:
    """A namespace of each cluster."""
    if request.param == "fake":
        with on_the_fake(tmp_path) as found:
            yield found
        return
    with on_a_real_one(Path(REAL)) as found:
        yield found
