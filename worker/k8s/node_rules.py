"""Rules for nodes: whether desktops may start there, why not, and how many. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.domain.machines.nodes import NodeReport, NodeState
from backend.domain.machines.slots import DesktopNeeds
from worker.k8s.cluster import Object
from worker.k8s.quantities import amount

SLOTS_LABEL = "deskarena.dev/slots"
EVERY = "*"
"""Selector: every node that offers the device."""
SHOWN_LABELS = (
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "node.kubernetes.io/instance-type",
    "kubernetes.io/arch",
    "karpenter.sh/capacity-type",
    SLOTS_LABEL,
)
UNREADY_GRACE = 30.0
"""Seconds for which a node that is not ready is tolerated. Kubernetes itself waits about 50 before it reports it."""
_MOST_SLOTS = 1000
_MOST_WORDS = 300
_SOFT, _HARD, _OUT = "PreferNoSchedule", "NoSchedule", "NoExecute"
_NOT_HEARD = frozenset({"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"})
_CORDONED = "node.kubernetes.io/unschedulable"
_REMOVED = "it is being removed from the cluster"
_WORDS: Mapping[str, str] = {
    _CORDONED: "cordoned: no new pods are scheduled on it",
    "node.kubernetes.io/disk-pressure": "its disk is nearly full",
    "node.kubernetes.io/memory-pressure": "its memory is nearly full",
    "node.kubernetes.io/pid-pressure": "it has too many processes",
    "node.kubernetes.io/network-unavailable": "its network is not set up",
    "node.kubernetes.io/out-of-service": "it was declared out of service",
    "node.cloudprovider.kubernetes.io/uninitialized": "its cloud provider has not initialised it yet",
    "node.cloudprovider.kubernetes.io/shutdown": "its machine was shut down",
    "ToBeDeletedByClusterAutoscaler": "the cluster autoscaler is about to remove it",
    "DeletionCandidateOfClusterAutoscaler": "the cluster autoscaler may remove it: used after all others",
    "karpenter.sh/disrupted": "Karpenter is about to remove it",
}


@dataclass(frozen=True)
class NodeRequirements:
    """Requirements for nodes.

    Attributes:
        need: of one desktop's pod.
        device: resource of which each pod takes one, such as `devices.kubevirt.io/kvm`; empty = none.
        tolerations: of the pods, as in their manifests.
        selected: nodes were selected by labels, so one without the device is reported.
    """

    need: DesktopNeeds
    device: str = ""
    tolerations: Sequence[Mapping[str, Any]] = ()
    selected: bool = True


def node_report(
    node: Object, wants: NodeRequirements, *, silent: float = 0.0, grace: float = UNREADY_GRACE, emulated: str = ""
) -> NodeReport | None:
    """Report about a node; None if it has no device and was not selected by labels.

    Args:
        node: the object.
        wants: requirements.
        silent: seconds for which it has not been ready.
        grace: seconds of that after which its attempts are given up.
        emulated: why machines are emulated there although the node has the device; empty = not known to be. A device
            does not prove that it boots machines.
    """
    metadata = node.get("metadata") or {}
    slots, short, capacity = room(node, wants)
    if not wants.selected and not capacity.get("devices"):
        return None
    state, reason = _state(node, wants, silent >= grace)
    labels = {name: value for name, value in (metadata.get("labels") or {}).items() if name in SHOWN_LABELS}
    return NodeReport(
        name=str(metadata.get("name", "")),
        state=state,
        reason="; ".join(filter(None, (reason or short, emulated and emulated_words(emulated))))[:_MOST_WORDS],
        slots=slots,
        labels=labels,
        capacity=capacity,
    )


def emulated_words(reason: str) -> str:
    """Text for a node whose device boots no machine."""
    return f"machines are emulated because KVM does not work: {reason}"


def room(node: Object, wants: NodeRequirements) -> tuple[int, str, dict[str, int]]:
    """A node's slots, a remark if needed, and how they were computed."""
    had = (node.get("status") or {}).get("allocatable") or {}
    capacity = {
        "memory": int(amount(had.get("memory", 0)) or 0),
        "cpu": int((amount(had.get("cpu", 0)) or 0) * 1000),
        "disk": int(amount(had.get("ephemeral-storage", 0)) or 0),
    }
    need = wants.need
    counts = {
        "memory": capacity["memory"] // need.memory,
        "cpu": int(capacity["cpu"] // (need.cores * 1000)),
        "ephemeral storage": capacity["disk"] // need.disk,
    }
    if wants.device:
        capacity["devices"] = counts[wants.device] = int(amount(had.get(wants.device, 0)) or 0)
    if (pods := amount(had.get("pods", ""))) is not None:
        counts["pods"] = int(pods)
    set_to, wrong = _label(node)
    if set_to is not None:
        counts[f"label {SLOTS_LABEL}"] = set_to
    number = max(0, min(_MOST_SLOTS, *counts.values()))
    scarce = " and ".join(name for name, count in counts.items() if count <= 0)
    return number, wrong or (f"no room for a desktop: {scarce}" if scarce else ""), capacity


def _label(node: Object) -> tuple[int | None, str]:
    text = ((node.get("metadata") or {}).get("labels") or {}).get(SLOTS_LABEL)
    if text is None:
        return None, ""
    if not str(text).isdecimal():
        return None, f"its label {SLOTS_LABEL} is not a number: {text!r}"
    return int(text), ""


def _state(node: Object, wants: NodeRequirements, given_up: bool) -> tuple[NodeState, str]:  # noqa: FBT001 - one of three facts
    taints = [
        taint for taint in (node.get("spec") or {}).get("taints") or [] if not tolerated(taint, wants.tolerations)
    ]
    out = [taint for taint in taints if taint.get("effect") == _OUT and taint.get("key") not in _NOT_HEARD]
    if out:
        return NodeState.LOST, f"it evicts its pods: {_taint_text(out[0])}"
    ready, reason = _ready(node)
    if not ready:
        return (NodeState.LOST if given_up else NodeState.UNREADY), reason
    hard = [taint for taint in taints if taint.get("effect") == _HARD]
    if (node.get("metadata") or {}).get("deletionTimestamp"):
        return NodeState.DRAINING, _REMOVED
    # A cordoned node's taint may come after the field, or be missing for pods that tolerate it.
    if (node.get("spec") or {}).get("unschedulable"):
        others = [taint for taint in hard if taint.get("key") != _CORDONED]
        return NodeState.DRAINING, _taint_text(others[0]) if others else _WORDS[_CORDONED]
    if hard:
        return NodeState.DRAINING, _taint_text(hard[0])
    soft = [taint for taint in taints if taint.get("effect") == _SOFT]
    return NodeState.READY, _taint_text(soft[0]) if soft else ""


def leave(node: Object, tolerations: Sequence[Mapping[str, Any]]) -> str:
    """Why a pod should not stay on a node for another attempt; empty = it may.

    According to the cluster's scheduler, which places the next pod: if it would place one like this there again, moving
    is useless. For a node that is not ready, its pods report themselves.

    Args:
        node: the object.
        tolerations: of the pod as stored in the cluster: admission may have added some.
    """
    if (node.get("metadata") or {}).get("deletionTimestamp"):
        return _REMOVED
    spec = node.get("spec") or {}
    taints = [
        *(spec.get("taints") or []),
        *([{"key": _CORDONED, "effect": _HARD}] if spec.get("unschedulable") else []),
    ]
    against = [
        taint
        for taint in taints
        if taint.get("effect") in {_HARD, _OUT}
        and taint.get("key") not in _NOT_HEARD
        and not tolerated(taint, tolerations)
    ]
    return _taint_text(against[0]) if against else ""


def tolerated(taint: Mapping[str, Any], tolerations: Sequence[Mapping[str, Any]]) -> bool:
    """Whether one of the tolerations covers the taint, by Kubernetes' rules; a temporary one does not count."""
    return any(_covers(toleration, taint) for toleration in tolerations)


def _covers(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    if toleration.get("tolerationSeconds") is not None:
        return False
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if toleration.get("operator", "Equal") == "Exists":
        return not toleration.get("key") or toleration["key"] == taint.get("key")
    return toleration.get("key") == taint.get("key") and (toleration.get("value") or "") == (taint.get("value") or "")


def _ready(node: Object) -> tuple[bool, str]:
    conditions = [
        condition
        for condition in (node.get("status") or {}).get("conditions") or []
        if condition.get("type") == "Ready"
    ]
    if not conditions:
        return False, "it has not reported yet whether it is ready"
    if conditions[0].get("status") == "True":
        return True, ""
    words = str(conditions[0].get("message") or conditions[0].get("reason") or "no reason given")
    return False, f"not ready: {words}"


def _taint_text(taint: Mapping[str, Any]) -> str:
    key, value = str(taint.get("key", "")), taint.get("value")
    return _WORDS.get(key) or f"taint {key}{f'={value}' if value else ''}:{taint.get('effect', '')}"
