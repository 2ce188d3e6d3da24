"""A whole fake cluster: API server, scheduler, kubelets, garbage collector. The entry point of this package.

with fake_cluster() as cluster:
    cluster.add_node("node-1", kvm=4, labels={"deskarena.dev/kvm": "true"})
    cluster.script(image_pull_back_off(), name="vm-7-*")
    kubeconfig = cluster.kubeconfig(tmp_path / "kubeconfig")      # for the official client, or kubectl
    ...
    cluster.lose("node-1")
    cluster.faults.throttle("create", times=3)
    cluster.api.cut_watches(); cluster.compact()
"""

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.fakes.kubernetes import lifecycle, rbac
from tests.fakes.kubernetes.events import EventRecorder
from tests.fakes.kubernetes.garbage import Garbage
from tests.fakes.kubernetes.ground import Own
from tests.fakes.kubernetes.kinds import (
    BY_KIND,
    EVENTS,
    KVM,
    NAMESPACES,
    NODES,
    PODS,
    SERVICE_ACCOUNTS,
    Json,
    Resource,
)  # fmt: skip
from tests.fakes.kubernetes.kubelets import Kubelets, PodScript, named
from tests.fakes.kubernetes.loop import WorkLoop
from tests.fakes.kubernetes.nodes import NodeController, node_object
from tests.fakes.kubernetes.run import Behaviour, PodRun
from tests.fakes.kubernetes.scheduler import Scheduler
from tests.fakes.kubernetes.server import FakeApiServer
from tests.fakes.kubernetes.state import AnsweredRequest, new_state
from tests.fakes.kubernetes.store import Change
from tests.fakes.kubernetes.subresources import assign
from tests.fakes.kubernetes.tls import certificate

ADMIN_TOKEN = "fake-admin-token"


class FakeCluster:
    """The running cluster.

    Attributes:
        store, verbs: objects, to be read and changed without HTTP.
        faults: what goes wrong between client and API.
        api: the HTTP server.
    """

    def __init__(self, *, pace: float = 0.01, port: int = 0, bookmarks: float = 5.0, tls: bool = False) -> None:
        """Starts it.

        Args:
            pace: real seconds for one second of the cluster's own timers (back-off, tolerations, collection).
            port: where to listen; 0 for any.
            bookmarks: seconds between two bookmarks of a watch.
            tls: serve over TLS: kubectl shows its token nowhere else.
        """
        self._tls = tls
        self.state = new_state()
        self.state.bookmarks = bookmarks
        self.store, self.verbs = self.state.store, self.state.verbs
        self.faults, self.admission = self.state.faults, self.state.admission
        self.loop = WorkLoop()
        ground = Own(self.state)
        self.recorder = EventRecorder(ground)
        self.scheduler = Scheduler(self.state, self.loop, self.recorder)
        self.kubelets = Kubelets(ground, self.loop, self.recorder, pace)
        self.state.logs = self.kubelets.log
        self.nodes = NodeController(self.state, self.loop, self.recorder, self.kubelets, pace)
        self.garbage = Garbage(self.state, self.loop)
        for part in (self.scheduler, self.kubelets, self.garbage):
            self.store.listen(part.heard)
        self.store.listen(self._new_namespace)
        self.state.users[ADMIN_TOKEN] = rbac.User("kubernetes-admin", [rbac.Grant(rbac.ADMIN)])
        for name in ("default", "kube-system"):
            self.add_namespace(name)
        self.loop.start()
        self.api = FakeApiServer(self.state, port, tls=tls)

    @property
    def address(self) -> str:
        """Where the API is reached."""
        return self.api.address

    @property
    def asked(self) -> list[AnsweredRequest]:
        """Every request that was answered."""
        return self.state.asked

    def close(self) -> None:
        """Ends everything; raises what went wrong inside."""
        self.api.close()
        try:
            self.loop.close()
        finally:
            self.kubelets.close()  # Last: the loop starts processes.

    def add_namespace(self, name: str, labels: Mapping[str, str] | None = None) -> None:
        """A namespace. Label pod-security.kubernetes.io/enforce says what its pods have to keep."""
        about = {"name": name, "labels": dict(labels or {})}
        self.verbs.create(NAMESPACES, {"metadata": about})

    def _new_namespace(self, resource: Resource, change: Change) -> None:
        """Every namespace has a service account from the first."""
        if resource is NAMESPACES and change.kind == "ADDED":
            self.verbs.create(
                SERVICE_ACCOUNTS, {"metadata": {"name": "default"}}, change.version.data["metadata"]["name"]
            )

    def add_node(
        self,
        name: str,
        *,
        kvm: int = 0,
        labels: Mapping[str, str] | None = None,
        resources: Mapping[str, str] | None = None,
        taints: Sequence[Json] = (),
    ) -> Json:
        """A node that is ready. `kvm`: how many pods may have the device; `resources`: further allocatable ones."""
        devices = {KVM: str(kvm)} if kvm else {}
        node = node_object(name, labels or {}, {**devices, **(resources or {})})
        if taints:
            node["spec"]["taints"] = list(taints)
        return self.verbs.create(NODES, node)

    def script(self, behaviour: Behaviour, *, name: str = "*", node: str = "*", times: int = -1) -> PodScript:
        """Has pods do something from their start; the newest script that fits counts."""
        script = PodScript(behaviour, named(name, node), times)
        self.kubelets.scripts.append(script)
        return script

    def create(self, document: Json, namespace: str = "") -> Json:
        """Any object of a known kind, as an administrator makes it."""
        resource = BY_KIND[document["apiVersion"], document["kind"]]
        return self.verbs.create(resource, document, namespace or document["metadata"].get("namespace", ""))

    def pod(self, namespace: str, name: str) -> Json | None:
        """A pod as it is now."""
        return self.store.get(PODS, (namespace, name))

    def run(self, namespace: str, name: str) -> PodRun:
        """A kubelet's way with a pod: `.follow(behaviour)` has it do something else. KeyError if no node has it."""
        pod = self.pod(namespace, name)
        if pod is None:
            raise KeyError(name)
        return self.kubelets.runs[pod["metadata"]["uid"]]

    def events(self, name: str = "", reason: str = "") -> list[Json]:
        """Events of an object, the oldest first."""
        return [
            event
            for event in self.store.all(EVENTS)
            if (not name or event["involvedObject"]["name"] == name) and (not reason or event["reason"] == reason)
        ]

    def lose(self, node: str, *, processes: bool = False) -> None:
        self.nodes.lose(node, processes=processes)

    def find(self, node: str) -> None:
        """A lost node is heard again."""
        self.nodes.find(node)

    def delete_node(self, node: str) -> None:
        """Scale-down: machine and node are gone."""
        self.nodes.delete(node)

    def cordon(self, node: str, *, on: bool = True) -> None:
        """The same as `kubectl cordon`."""

        def change(obj: Json) -> None:
            obj["spec"].pop("unschedulable", None)
            if on:
                obj["spec"]["unschedulable"] = True

        self.nodes.change(node, change)

    def replace(self, namespace: str, name: str) -> Json:
        """Somebody else deletes a pod by force and makes another of the same name: another uid."""
        pod = self.pod(namespace, name)
        if pod is None:
            raise KeyError(name)
        lifecycle.delete(self.store, PODS, (namespace, name), {"gracePeriodSeconds": 0})
        spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
        about = {key: pod["metadata"][key] for key in ("name", "labels", "annotations") if key in pod["metadata"]}
        return self.verbs.create(PODS, {"metadata": about, "spec": spec}, namespace)

    def bind(self, namespace: str, name: str, node: str) -> None:
        """Gives a pod a node past the scheduler."""
        assign(self.state, (namespace, name), node)

    def compact(self) -> None:
        """Forgets old versions: a watch from one of them gets 410."""
        self.store.compact()

    def add_token(self, token: str, user: str, *documents: Json, namespace: str = "") -> None:
        """A user with the rules of Roles (in `namespace`) and ClusterRoles (everywhere), and nothing else."""
        grants = [
            rbac.Grant(document.get("rules") or [], namespace if document["kind"] == "Role" else "")
            for document in documents
        ]  # fmt: skip
        self.state.users[token] = rbac.User(user, grants)

    def add_admin(self, token: str) -> None:
        """A user that may do everything."""
        self.state.users[token] = rbac.User(token, [rbac.Grant(rbac.ADMIN)])

    def remove_token(self, token: str) -> None:
        """From now on its user may do nothing: as if it were dead."""
        del self.state.users[token]

    def kubeconfig(self, path: Path, *, token: str = ADMIN_TOKEN, namespace: str = "default") -> Path:
        """Writes a kubeconfig that leads here."""
        data = b64encode(certificate()[0]).decode()
        authority = {"certificate-authority-data": data} if self._tls else {}
        document = {
            "apiVersion": "v1", "kind": "Config", "current-context": "fake", "preferences": {},
            "clusters": [{"name": "fake", "cluster": {"server": self.address, **authority}}],
            "users": [{"name": "fake", "user": {"token": token}}],
            "contexts": [{"name": "fake", "context": {"cluster": "fake", "user": "fake", "namespace": namespace}}],
        }  # fmt: skip
        path.write_text(json.dumps(document))
        return path


@contextmanager
def fake_cluster(*, pace: float = 0.01, bookmarks: float = 5.0, tls: bool = False) -> Iterator[FakeCluster]:
    """A cluster that is gone at the end, with everything that ran in it."""
    cluster = FakeCluster(pace=pace, bookmarks=bookmarks, tls=tls)
    try:
        yield cluster
    finally:
        cluster.close()
