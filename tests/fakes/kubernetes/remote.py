"""Scripted kubelets on a real API server: its scheduler and controllers are real, the nodes are ours.

with scripted_nodes(kubeconfig) as nodes:
    nodes.add_node("node-1", kvm=4)
    nodes.script(oom_killed(), name="vm-7-*")

Pods run as on the fake cluster: a behaviour for each, at a loopback address of its own. Nodes renew their leases until
`lose`; the real node controller does the rest.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from urllib3.exceptions import HTTPError

from tests.fakes.kubernetes import status
from tests.fakes.kubernetes.events import EventRecorder
from tests.fakes.kubernetes.kinds import KVM, LEASES, NODES, PODS, Json, Resource, clone
from tests.fakes.kubernetes.kubelet_logs import LogServer
from tests.fakes.kubernetes.kubelets import Kubelets, PodScript, named
from tests.fakes.kubernetes.loop import WorkLoop
from tests.fakes.kubernetes.nodes import node_object
from tests.fakes.kubernetes.raw import Raw, RawAnswer
from tests.fakes.kubernetes.run import Behaviour, PodRun
from tests.fakes.kubernetes.store import Key
from worker.k8s import cluster
from worker.k8s.client import connect

EVERYWHERE = cluster.ResourceKind("pods", namespaced=False)
HELD = "kube-node-lease"
BEAT_SECONDS = 1.0


def path_of(resource: Resource, key: Key, sub: str = "") -> str:
    """An object's address; with no name, its collection's."""
    root = f"/apis/{resource.api_version}" if resource.group else f"/api/{resource.version}"
    within = f"/namespaces/{key[0]}" if resource.namespaced else ""
    return "/".join(part for part in (f"{root}{within}/{resource.plural}", key[1], sub) if part)


class RemoteGround:
    """See Ground: a real API server's objects."""

    def __init__(self, raw: Raw) -> None:
        self._raw = raw

    def find(self, resource: Resource, key: Key) -> Json | None:
        answer = self._raw.ask("GET", path_of(resource, key))
        return None if answer.status == 404 else _done(answer)

    def create(self, resource: Resource, obj: Json, namespace: str = "") -> Json:
        whole = {"apiVersion": resource.api_version, "kind": resource.kind, **obj}
        return _done(self._raw.ask("POST", path_of(resource, (namespace, "")), whole))

    def change(self, resource: Resource, key: Key, change: Callable[[Json], object], uid: str = "") -> Json | None:
        """See Ground. Of what has a status, the status is written."""
        while (old := self.find(resource, key)) is not None and uid in {"", old["metadata"]["uid"]}:
            new = clone(old)
            change(new)
            if new == old:
                return old
            answer = self._raw.ask("PUT", path_of(resource, key, "status" if resource.status else ""), new)
            if answer.status not in {404, 409}:
                return _done(answer)
        return None

    def confirm(self, key: Key, uid: str) -> None:
        answer = self._raw.ask("DELETE", path_of(PODS, key), {"gracePeriodSeconds": 0, "preconditions": {"uid": uid}})
        if answer.status not in {404, 409}:
            _done(answer)


def _done(answer: RawAnswer) -> Json:
    """The object that was answered. Raises Refusal, as the fake's own verbs do."""
    if answer.status >= 400:
        status_body: Json = {}
        with suppress(ValueError):  # A server that is too busy says so in plain text.
            status_body = answer.body
        raise status.Refusal(answer.status, status_body.get("reason", ""), status_body.get("message", answer.text))
    obj: Json = answer.body
    return obj


class ScriptedNodes:
    """Nodes of ours in somebody else's cluster.

    Attributes:
        kubelets: what they run; `default` is what pods do that no script is for.
    """

    def __init__(self, file: Path, *, pace: float = 0.01) -> None:
        """Joins. Args: pace: real seconds for one second of a kubelet's own timers."""
        self._port, self._raw = connect(str(file), "default"), Raw(file)
        self._ground, self.loop = RemoteGround(self._raw), WorkLoop()
        self.kubelets = Kubelets(self._ground, self.loop, EventRecorder(self._ground), pace)
        self._logs = LogServer(self._pod, self.kubelets.log)
        self._nodes: set[str] = set()
        self._over = threading.Event()
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._beat, self._follow)]
        self.loop.start()
        for thread in self._threads:
            thread.start()

    def _pod(self, namespace: str, name: str) -> Json | None:
        return self._ground.find(PODS, (namespace, name))

    def add_node(self, name: str, *, kvm: int = 0, labels: Mapping[str, str] | None = None) -> None:
        """A node that is ready as soon as the cluster's own controller has seen it."""
        node = node_object(name, labels or {}, {KVM: str(kvm)} if kvm else {})
        node["status"]["daemonEndpoints"] = {"kubeletEndpoint": {"Port": self._logs.port}}
        # Known before it is there: a scheduler gives it pods at once.
        self._nodes.add(name)
        try:
            self._ground.create(NODES, node)
        except status.Refusal:
            self._nodes.discard(name)  # Somebody else's.
            raise
        self._ground.create(LEASES, {"metadata": {"name": name}, "spec": _renewed(name)}, HELD)

    def script(self, behaviour: Behaviour, *, name: str = "*", node: str = "*", times: int = -1) -> PodScript:
        """As FakeCluster.script."""
        pod_script = PodScript(behaviour, named(name, node), times)
        self.kubelets.scripts.append(pod_script)
        return pod_script

    def run(self, namespace: str, name: str) -> PodRun:
        """As FakeCluster.run."""
        pod = self._pod(namespace, name)
        if pod is None:
            raise KeyError(name)
        return self.kubelets.runs[pod["metadata"]["uid"]]

    def lose(self, node: str) -> None:
        """The node is heard no more; its processes run on."""
        self.kubelets.away.add(node)
        for run in self.kubelets.of_node(node):
            run.lost = True

    def find(self, node: str) -> None:
        """The node is heard again."""
        self._ground.change(NODES, ("", node), _ready)
        self.kubelets.come_back(node)

    def _beat(self) -> None:
        while not self._over.wait(BEAT_SECONDS):
            # As a kubelet does, it tries again with the next beat.
            with suppress(status.Refusal, HTTPError):
                for name in self._nodes - self.kubelets.away:
                    self._ground.change(LEASES, (HELD, name), lambda obj: obj["spec"].update(renewTime=_now()))

    def _follow(self) -> None:
        """Lists, then watches, and begins anew where the server forgot, or was away."""
        while not self._over.is_set():
            try:
                self._watch(self._listed())
            except (cluster.VersionGone, cluster.ClusterUnavailable):
                self._over.wait(BEAT_SECONDS)

    def _listed(self) -> str:
        listed = self._port.list(EVERYWHERE)
        for pod in listed.items:
            self._heard("ADDED", pod)
        for uid in set(self.kubelets.runs) - {pod["metadata"]["uid"] for pod in listed.items}:
            self.kubelets.lost_sight(uid)
        return listed.version

    def _watch(self, version: str) -> None:
        while not self._over.is_set():
            with self._port.watch(EVERYWHERE, version, seconds=2) as watch:
                for change in watch:
                    version = change.version
                    if change.type != "BOOKMARK":
                        self._heard(change.type, change.object)

    def _heard(self, kind: str, pod: Json) -> None:
        if pod["spec"].get("nodeName") in self._nodes:
            self.kubelets.seen(kind, pod)

    def close(self) -> None:
        """Leaves: processes end, nodes are taken out of the cluster. Raises what went wrong, after all of it."""
        with ExitStack() as last:
            for work in (self._port.close, self._raw.close, self._logs.close):
                last.callback(work)
            for name in self._nodes:
                last.callback(self._take_out, name)
            last.callback(self.kubelets.close)  # Called after the loop's end, as that starts processes.
            last.callback(self.loop.close)
            self._over.set()
            for thread in self._threads:
                thread.join()

    def _take_out(self, name: str) -> None:
        self._raw.ask("DELETE", path_of(NODES, ("", name)))
        self._raw.ask("DELETE", path_of(LEASES, (HELD, name)))


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _renewed(name: str) -> Json:
    return {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": _now()}


def _ready(node: Json) -> None:
    node["status"]["conditions"] = node_object(node["metadata"]["name"], {}, {})["status"]["conditions"]


@contextmanager
def scripted_nodes(file: Path, *, pace: float = 0.01) -> Iterator[ScriptedNodes]:
    """Nodes that leave at the end."""
    nodes = ScriptedNodes(file, pace=pace)
    try:
        yield nodes
    finally:
        nodes.close()
