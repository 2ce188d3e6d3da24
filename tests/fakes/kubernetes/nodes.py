"""Nodes: what they look like, and what happens to them and their pods when they are lost or short of something."""

from collections.abc import Callable, Mapping
from functools import partial

from tests.fakes.kubernetes import lifecycle, pod_status
from tests.fakes.kubernetes.events import NODE_CONTROLLER, TAINTS, EventRecorder, EventText
from tests.fakes.kubernetes.fitting import tolerates
from tests.fakes.kubernetes.kinds import NODES, PODS, Json
from tests.fakes.kubernetes.kubelets import Kubelets
from tests.fakes.kubernetes.loop import WorkLoop
from tests.fakes.kubernetes.run import PodRun
from tests.fakes.kubernetes.state import State
from tests.fakes.kubernetes.status import Refusal
from tests.fakes.kubernetes.store import now

UNREACHABLE = "node.kubernetes.io/unreachable"
DISK_PRESSURE = "node.kubernetes.io/disk-pressure"
_INFO = {
    "architecture": "amd64", "bootID": "fake", "containerRuntimeVersion": "fake://1", "kernelVersion": "6.1.0",
    "machineID": "fake",
    "kubeProxyVersion": "v1.36.0", "kubeletVersion": "v1.36.0", "operatingSystem": "linux", "osImage": "fake",
    "systemUUID": "fake",
}  # fmt: skip


def node_object(name: str, labels: Mapping[str, str], resources: Mapping[str, str]) -> Json:
    """A node that is ready."""
    listed = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", **labels}
    there = {"cpu": "16", "memory": "64Gi", "ephemeral-storage": "200Gi", "pods": "110", **resources}
    conditions = [
        _condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        _condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        _condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        _condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    ]
    addresses = [{"type": "InternalIP", "address": "127.0.0.1"}, {"type": "Hostname", "address": name}]
    status = {
        "capacity": there, "allocatable": there, "conditions": conditions, "addresses": addresses, "nodeInfo": _INFO,
    }  # fmt: skip
    about = {"name": name, "labels": listed}
    return {"apiVersion": "v1", "kind": "Node", "metadata": about, "spec": {}, "status": status}


def _condition(kind: str, status: str, reason: str, message: str) -> Json:
    times = {"lastHeartbeatTime": now(), "lastTransitionTime": now()}
    return {"type": kind, "status": status, "reason": reason, "message": message, **times}


def _set(node: Json, condition: Json) -> None:
    others = [old for old in node["status"].get("conditions") or [] if old["type"] != condition["type"]]
    node["status"]["conditions"] = [*others, condition]


def add_taint(node: Json, key: str, *effects: str) -> None:
    """Replaces a node's taints of one key."""
    kept = [taint for taint in node["spec"].get("taints") or [] if taint["key"] != key]
    node["spec"]["taints"] = [*kept, *({"key": key, "effect": effect} for effect in effects)]
    if not node["spec"]["taints"]:
        del node["spec"]["taints"]


class NodeController:
    """The control plane's work on nodes; runs on the cluster's loop."""

    def __init__(self, state: State, loop: WorkLoop, recorder: EventRecorder, kubelets: Kubelets, pace: float) -> None:
        self._state, self._loop, self._recorder, self._kubelets = state, loop, recorder, kubelets
        self._pace = pace

    def change(self, name: str, change: Callable[[Json], object]) -> None:
        """Changes a node."""
        if self._state.verbs.change(NODES, ("", name), change) is None:
            raise KeyError(name)

    def lose(self, name: str, *, processes: bool = False) -> None:
        """The node is heard no more: NotReady, tainted; its pods are to go when they tolerate it no longer.

        Args:
            name: the node.
            processes: whether what ran there is dead, too (else it runs on, unseen, as behind a cut network).
        """
        self._kubelets.away.add(name)
        for run in self._kubelets.of_node(name):
            run.lost = True
            if processes and run.process is not None:
                run.process.stop(0.0)
        condition = _condition("Ready", "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.")

        def change(node: Json) -> None:
            _set(node, condition)
            add_taint(node, UNREACHABLE, "NoSchedule", "NoExecute")

        self.change(name, change)
        node = self._state.store.get(NODES, ("", name))
        if node is not None:
            self._recorder.record(
                node, EventText("NodeNotReady", f"Node {name} status is now: NodeNotReady", NODE_CONTROLLER)
            )
        for run in self._kubelets.of_node(name):
            self._mark(run)

    def _mark(self, run: PodRun) -> None:
        """The pods of a lost node are not ready, and are deleted after what they tolerate."""
        pod = self._state.verbs.change(
            PODS, run.key, lambda obj: pod_status.condition(obj, "Ready", holds=False), run.uid
        )
        if pod is None:
            return
        self._recorder.record(pod, EventText("NodeNotReady", "Node is not ready", NODE_CONTROLLER, warning=True))
        taint = {"key": UNREACHABLE, "effect": "NoExecute"}
        mine = [toleration for toleration in pod["spec"].get("tolerations") or [] if tolerates([toleration], taint)]
        times = [
            toleration["tolerationSeconds"] for toleration in mine if toleration.get("tolerationSeconds") is not None
        ]
        if not mine or times:
            self._loop.later(min(times, default=0) * self._pace, lambda: self._expel(run))

    def _expel(self, run: PodRun) -> None:
        if not run.lost or run.pod is None:
            return
        namespace, name = run.key
        message = "Taint manager: deleting due to NoExecute taint"

        def change(pod: Json) -> None:
            pod_status.condition(pod, "DisruptionTarget", holds=True, reason="DeletionByTaintManager", message=message)

        self._state.verbs.change(PODS, run.key, change, run.uid)
        self._recorder.record(
            run.pod, EventText("TaintManagerEviction", f"Marking for deletion Pod {namespace}/{name}", TAINTS)
        )
        self._delete(run, {})

    def _delete(self, run: PodRun, options: Json) -> None:
        try:
            lifecycle.delete(self._state.store, PODS, run.key, {**options, "preconditions": {"uid": run.uid}})
        except Refusal as refusal:
            if refusal.code not in {404, 409}:
                raise

    def find(self, name: str) -> None:
        """The node is heard again."""

        def change(node: Json) -> None:
            _set(node, _condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"))
            add_taint(node, UNREACHABLE)

        self.change(name, change)
        self._kubelets.come_back(name)

    def delete(self, name: str) -> None:
        """Removes the machine: the node disappears, its processes die, its pods are collected."""
        lifecycle.delete(self._state.store, NODES, ("", name))
        for run in self._kubelets.of_node(name):
            run.kill()
            self._loop.later(40 * self._pace, partial(self._collect, run))

    def _collect(self, run: PodRun) -> None:
        """The pod's node is not there any more: it is marked as failed and deleted by force."""

        def change(pod: Json) -> None:
            why = "PodGC: node no longer exists"
            pod["status"]["phase"] = "Failed"
            pod_status.condition(pod, "DisruptionTarget", holds=True, reason="DeletionByPodGC", message=why)

        self._state.verbs.change(PODS, run.key, change, run.uid)
        self._delete(run, {"gracePeriodSeconds": 0})

    def press(self, name: str, *, full: bool = True) -> None:
        """The node's disk is full (or no longer): the condition and the taint that keeps pods away."""
        word = "KubeletHasDiskPressure" if full else "KubeletHasNoDiskPressure"
        message = "kubelet has disk pressure" if full else "kubelet has no disk pressure"

        def change(node: Json) -> None:
            _set(node, _condition("DiskPressure", str(full), word, message))
            add_taint(node, DISK_PRESSURE, *(["NoSchedule"] if full else []))

        self.change(name, change)
