"""Objects that we create in a cluster, as pure functions.

A pod needs no rights on its node or in its cluster: it meets the pod security standard `restricted`.
"""

import base64
import datetime as dt
import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

from backend.domain.machines.slots import SlotRef
from backend.domain.model.units import MIB
from worker.k8s.cluster import Object
from worker.k8s.plan import PodPlan, Volume, bytes_of

NAME, APP = "app.kubernetes.io/name", "deskarena-vm"
OWNER, SLOT = "deskarena.dev/owner", "deskarena.dev/slot"
KEY, WORKER, DEADLINE, FENCE, MEMORY, DESKTOP, ATTEMPTS = (
    f"deskarena.dev/{name}" for name in ("key", "worker", "deadline", "fence", "memory-mib", "desktop", "attempts")
)
EMULATED = "deskarena.dev/emulated"
"""Annotation: why machines of a pod are emulated although it has the device, found by booting one."""
DISTRUSTED = "distrusted"
"""Value for a pod's key that matches no settings, so that the pod is replaced."""
PORT = 7070
TOKEN = "token"  # noqa: S105 - a key of the Secret's data.
_TOKEN_FOLDER = "/run/secrets/deskarena"  # noqa: S105
_USER = 1000
_OVERHEAD_MIB = 512
"""Memory of QEMU, its page tables and the supervisor, beside the guest's."""
_RUN_SIZE = "64Mi"
_LOOK_SIZE, _LOOK_MIB = "64Mi", 192
"""Of a pod that only lists images: size of each volume, and memory beyond its own."""
_GRACE_SECONDS = 5
_HASH = 10


@dataclass(frozen=True)
class PodResources:
    """Resources of a pod's machines.

    Attributes:
        memory_mib: the guest's memory.
        cores: requested; a machine may use more if they are free.
        desktop: kind of desktop that they are for; empty = none, as for a pod that only lists images.
    """

    memory_mib: int
    cores: float
    desktop: str = ""


def slot_name(slot: SlotRef) -> str:
    """Label value of a slot: its row's id, else its node and index."""
    return slot.id or f"{slot.node or 'any'}.{slot.index}"


def pod_name(plan: PodPlan, slot: SlotRef) -> str:
    """Name that depends on the slot alone, so that a second pod for it cannot be created."""
    key = json.dumps([plan.owner, slot.node, slot.index])
    return f"deskarena-vm-{hashlib.sha256(key.encode()).hexdigest()[:_HASH]}"


def selector(plan: PodPlan) -> str:
    """Label selector of all our pods."""
    return f"{NAME}={APP},{OWNER}={plan.owner}"


def labels_of(plan: PodPlan, slot: str) -> dict[str, str]:
    """Labels of every object that we create."""
    return {**plan.labels, NAME: APP, OWNER: plan.owner, SLOT: slot}


def moment(seconds: float) -> str:
    """Seconds since 1970 as RFC 3339."""
    return dt.datetime.fromtimestamp(seconds, dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds_of(text: str) -> float | None:
    """Reverse of `moment`; None for an invalid text."""
    try:
        return dt.datetime.fromisoformat(text).timestamp()
    except (ValueError, TypeError):
        return None


def spec_key(plan: PodPlan) -> str:
    """Changes whenever existing pods no longer match the settings."""
    spec = _spec(plan, PodResources(0, 0.0), secret="", node="", fence=0)
    return hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:16]


def pod(  # noqa: PLR0913 - what makes a pod
    plan: PodPlan, slot: SlotRef, room: PodResources, *, secret: str, worker: str, deadline: float, kvm: bool = True
) -> Object:
    """The pod of a slot.

    Args:
        plan: settings of all pods.
        slot: its slot; the slot's node is required.
        room: required resources.
        secret: name of the Secret with its token, which is created after the pod.
        worker: creator.
        deadline: seconds since 1970, after which any worker removes it.
        kvm: False = it only lists images and needs neither the device nor room for machines.
    """
    shape = plan if kvm else replace(plan, templates=Volume("empty", _LOOK_SIZE), overlays=_LOOK_SIZE)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": pod_name(plan, slot),
            "labels": labels_of(plan, slot_name(slot)),
            "annotations": {
                KEY: spec_key(plan),
                WORKER: worker,
                DEADLINE: moment(deadline),
                FENCE: str(slot.fence),
                MEMORY: str(room.memory_mib),
                DESKTOP: room.desktop,
                ATTEMPTS: begins(slot),
            },
        },
        "spec": _spec(shape, room, secret=secret, node=slot.node, fence=slot.fence, kvm=kvm),
    }


def trial(plan: PodPlan, room: PodResources, index: int, *, worker: str, now: float) -> Object:
    """A pod for a dry run that checks rights, admission and quotas.

    Args:
        plan: settings of all pods.
        room: requested resources.
        index: of a slot that does not exist.
        worker: creator.
        now: seconds since 1970.
    """
    slot = SlotRef(index, "node" if plan.by_node else "")
    return pod(plan, slot, room, secret="none", worker=worker, deadline=now)  # noqa: S106 - a Secret's name.


def begins(slot: SlotRef, before: int = 0) -> str:
    """Annotation with the number of attempts in a pod, counting the first one of this lease (none without one)."""
    return str(before + (slot.fence > 0))


def secret(plan: PodPlan, pod_object: Object, name: str, token: str) -> Object:
    """The Secret with a pod's token, which is removed with the pod.

    Args:
        plan: settings of all pods.
        pod_object: the pod as the cluster returned it.
        name: as in the pod's spec.
        token: generated for this pod.
    """
    metadata = pod_object["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "immutable": True,
        "metadata": {
            "name": name,
            "labels": labels_of(plan, metadata["labels"][SLOT]),
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"]}],
        },
        "data": {TOKEN: base64.b64encode(token.encode()).decode()},
    }


def secret_of(pod_object: Object) -> str:
    """Name of the Secret with a pod's token; empty if there is none."""
    volumes = pod_object.get("spec", {}).get("volumes") or []
    return next((str(volume["secret"]["secretName"]) for volume in volumes if volume.get("name") == TOKEN), "")


def _spec(plan: PodPlan, room: PodResources, *, secret: str, node: str, fence: int, kvm: bool = True) -> Object:  # noqa: PLR0913
    return {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": _GRACE_SECONDS,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER,
            "runAsGroup": _USER,
            "fsGroup": _USER,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(plan, room, fence, kvm=kvm)],
        "volumes": _volumes(plan, secret, node),
        **({"affinity": _on(node)} if node else {}),
        **({"tolerations": [dict(toleration) for toleration in plan.tolerations]} if plan.tolerations else {}),
        **({"imagePullSecrets": [{"name": name} for name in plan.pull_secrets]} if plan.pull_secrets else {}),
    }


def _container(plan: PodPlan, room: PodResources, fence: int, *, kvm: bool) -> Object:
    return {
        "name": "vm",
        "image": plan.image,
        "terminationMessagePolicy": "FallbackToLogsOnError",  # The pod's status then says why it ended.
        "env": [
            {"name": "DESKARENA_SUPERVISOR_TOKEN_FILE", "value": f"{_TOKEN_FOLDER}/{TOKEN}"},
            {"name": "DESKARENA_POD_FENCE", "value": str(fence)},
            {"name": "DESKARENA_POD_OVERLAY_BYTES", "value": str(bytes_of(plan.overlays))},
            # Workers remove it before; this is for the case that there are none.
            {"name": "DESKARENA_POD_ALONE_SECONDS", "value": str(round(plan.idle * 2) + 60)},
        ],
        "ports": [{"name": "supervisor", "containerPort": PORT}],
        "resources": _resources(plan, room, kvm=kvm),
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "startupProbe": {**_probe(), "periodSeconds": 1, "failureThreshold": 120},
        "readinessProbe": {**_probe(), "periodSeconds": 10, "failureThreshold": 2},
        "livenessProbe": {**_probe(), "periodSeconds": 30, "failureThreshold": 4},
        "volumeMounts": [
            {"name": "images", "mountPath": "/images", "readOnly": True},
            {"name": "templates", "mountPath": "/templates"},
            {"name": "overlays", "mountPath": "/overlays"},
            {"name": "run", "mountPath": "/run/deskarena"},
            {"name": TOKEN, "mountPath": _TOKEN_FOLDER, "readOnly": True},
        ],
    }


def _probe() -> Object:
    return {"exec": {"command": ["python3", "-I", "/opt/deskarena/health.py"]}, "timeoutSeconds": 5}


def _resources(plan: PodPlan, room: PodResources, *, kvm: bool) -> Object:
    # A machine may use all the memory it was assigned; beyond that only this pod is killed, not a neighbour.
    memory = room.memory_mib + (_OVERHEAD_MIB if kvm else _LOOK_MIB)
    memory += plan.templates.size // MIB if plan.templates.kind == "memory" else 0
    disk = bytes_of(plan.overlays) + (plan.templates.size if plan.templates.kind == "empty" else 0)
    device = {plan.kvm: "1"} if plan.kvm and kvm else {}
    return {
        "requests": {
            "cpu": f"{max(10, round(room.cores * 1000))}m",
            "memory": f"{memory}Mi",
            "ephemeral-storage": f"{disk // MIB}Mi",
            **device,
        },
        "limits": {"memory": f"{memory}Mi", "ephemeral-storage": f"{disk // MIB + 256}Mi", **device},
    }


def _volumes(plan: PodPlan, secret: str, node: str) -> list[Object]:
    return [
        {"name": "images", **_source(plan.images, node, read_only=True)},
        {"name": "templates", **_source(plan.templates, node, read_only=False)},
        {"name": "overlays", "emptyDir": {"sizeLimit": plan.overlays}},
        {"name": "run", "emptyDir": {"medium": "Memory", "sizeLimit": _RUN_SIZE}},
        {"name": TOKEN, "secret": {"secretName": secret, "defaultMode": 0o440}},
    ]


def _source(volume: Volume, node: str, *, read_only: bool) -> Object:
    if volume.kind == "claim":
        claim: dict[str, Any] = {"claimName": volume.claim(node)}
        return {"persistentVolumeClaim": {**claim, "readOnly": True} if read_only else claim}
    if volume.kind == "image":
        return {"image": {"reference": volume.what, "pullPolicy": "IfNotPresent"}}
    if volume.kind == "clone":
        # Such a volume has no read-only flag: the container's mount has it.
        origin = {"kind": "PersistentVolumeClaim", "name": volume.claim(node)}
        return _made_with_the_pod(volume.room, volume.storage, dataSource=origin)
    if volume.kind == "ephemeral":
        return _made_with_the_pod(volume.what, volume.storage)
    medium = {"medium": "Memory"} if volume.kind == "memory" else {}
    return {"emptyDir": {**medium, "sizeLimit": volume.what}}


def _made_with_the_pod(size: str, storage: str, **more: Object) -> Object:
    """A claim that the cluster creates with the pod and removes with it."""
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": size}},
        **({"storageClassName": storage} if storage else {}),
        **more,
    }
    return {"ephemeral": {"volumeClaimTemplate": {"spec": spec}}}


def _on(node: str) -> Object:
    """Requires the node, but lets the cluster's scheduler check that there is room."""
    names = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [names]}}}
