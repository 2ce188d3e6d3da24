"""A real control plane with the rights of deploy/k8s; its nodes are scripted, its pods run the real supervisor."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.config import Settings
from tests.factories.vm_pods import VmPods, vm_pods
from tests.fakes.kubernetes.behaviours import running
from tests.fakes.kubernetes.kinds import BY_KIND, SECRETS, Json
from tests.fakes.kubernetes.raw import Raw
from tests.fakes.kubernetes.remote import RemoteGround, ScriptedNodes, scripted_nodes
from tests.unit.deploy.built import kind
from tests.waiting import until
from tools.real_apiserver.programs import Layout, kubeconfig
from tools.real_apiserver.running import control_plane
from worker.providers.k8s import K8sProvider

SPACE, CLAIMS = "deskarena-vms", ("deskarena-images", "templates")
GRANTED = ("Namespace", "ServiceAccount", "Role", "RoleBinding", "ResourceQuota", "NetworkPolicy")
SECONDS = 120.0
"""For what controllers do in their own time."""


@dataclass
class RealPlace:
    """The cluster and what runs in it.

    Attributes:
        raw, ground: as its administrator.
        worker: kubeconfig of the workers' own service account.
    """

    layout: Layout
    nodes: ScriptedNodes
    pods: VmPods
    raw: Raw
    ground: RemoteGround
    worker: Path
    data: Path

    def provider(self, **changed: Any) -> K8sProvider:
        """A worker's provider, with the rights of deploy/k8s, that is ready to work."""
        settings = {
            "data_dir": self.data, "KUBECONFIG": str(self.worker), "k8s_pod_image": "registry.example/vm:1",
            "k8s_namespace": SPACE, "k8s_start_seconds": 120, "k8s_template_volume": f"claim:{CLAIMS[1]}",
            "k8s_image_volume": f"claim:{CLAIMS[0]}", **changed,
        }  # fmt: skip
        k8s_provider = K8sProvider(Settings(**settings))
        until(lambda: k8s_provider.availability().ok, SECONDS, what=k8s_provider.availability().reason)
        return k8s_provider

    def ask(self, method: str, what: str, body: Any = None, **how: Any) -> Any:
        """A request about something of the machines' namespace."""
        return self.raw.ask(method, f"/api/v1/namespaces/{SPACE}/{what}", body, **how)


def _granted(ground: RemoteGround) -> None:
    """Objects that `kubectl apply` would make of the rights, in the order that they need."""
    for name in GRANTED:
        for document in kind("production", name):
            ground.create(BY_KIND[document["apiVersion"], name], document, document["metadata"].get("namespace", ""))


def _claim(ground: RemoteGround, name: str) -> None:
    """An existing volume and a claim to it; the real controller binds them."""
    room, modes = {"storage": "1Gi"}, ["ReadWriteMany"]
    where = {"path": f"/nowhere/{name}"}
    volume = {"capacity": room, "accessModes": modes, "hostPath": where, "claimRef": {"namespace": SPACE, "name": name}}
    claim = {"accessModes": modes, "resources": {"requests": room}, "storageClassName": "", "volumeName": name}
    for what, spec in (("PersistentVolume", volume), ("PersistentVolumeClaim", claim)):
        ground.create(BY_KIND["v1", what], {"metadata": {"name": name}, "spec": spec}, SPACE)


def _token(raw: Raw) -> str:
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 7200}}
    answer = raw.ask("POST", "/api/v1/namespaces/deskarena/serviceaccounts/k8s-worker/token", body)
    assert answer.status == 201, answer.text
    return str(answer.body["status"]["token"])


def _secrets(ground: RemoteGround) -> Callable[[str, str], Mapping[str, str] | None]:
    def find(namespace: str, name: str) -> Mapping[str, str] | None:
        secret = ground.find(SECRETS, (namespace, name))
        return None if secret is None else secret["data"]

    return find


def _worker(layout: Layout, token: str) -> Path:
    document: Json = kubeconfig(layout, "admin")
    document["users"] = [{"name": "admin", "user": {"token": token}}]
    file = layout.folder / "worker.kubeconfig"
    file.write_text(json.dumps(document))
    return file


@contextmanager
def real_place(built: Path, folder: Path, furnish: Callable[[Path], object]) -> Iterator[RealPlace]:
    """Two nodes. Args: built: see tools.real_apiserver; furnish: puts machine images into a folder."""
    with control_plane(built, folder / "cluster") as layout:
        raw = Raw(layout.kubeconfig("admin"))
        ground = RemoteGround(raw)
        _granted(ground)
        for name in CLAIMS:
            _claim(ground, name)
        with scripted_nodes(layout.kubeconfig("admin")) as nodes, vm_pods(_secrets(ground), furnish) as pods:
            for name in ("node-1", "node-2"):
                nodes.add_node(name, kvm=50)
            nodes.script(running(pods.start))
            yield RealPlace(layout, nodes, pods, raw, ground, _worker(layout, _token(raw)), folder)
        raw.close()
