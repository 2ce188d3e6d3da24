"""Checks Kubernetes manifests without a cluster: unknown fields, wrong types, missing fields, invalid values.

The fields come from the models of the installed official client, which are generated from the API's schema. What those
lack (the words that a field takes, texts that are numbers) is listed here. `problems(document)` is the door.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

Json = dict[str, Any]
WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")
KINDS: Mapping[str, tuple[str, ...]] = {
    "v1": (
        "ConfigMap", "Event", "LimitRange", "Namespace", "Node", "PersistentVolume", "PersistentVolumeClaim", "Pod",
        "PodTemplate", "ResourceQuota", "Secret", "Service", "ServiceAccount", "Binding",
    ),
    "apps/v1": WORKLOADS,
    "autoscaling/v2": ("HorizontalPodAutoscaler",),
    "batch/v1": ("CronJob", "Job"),
    "coordination.k8s.io/v1": ("Lease",),
    "events.k8s.io/v1": ("Event",),
    "networking.k8s.io/v1": ("Ingress", "IngressClass", "NetworkPolicy"),
    "node.k8s.io/v1": ("RuntimeClass",),
    "policy/v1": ("Eviction", "PodDisruptionBudget"),
    "rbac.authorization.k8s.io/v1": ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
    "scheduling.k8s.io/v1": ("PriorityClass",),
    "storage.k8s.io/v1": ("StorageClass",),
}  # fmt: skip
# Kinds of others, of which no more is known here than that they have a name and a spec.
FOREIGN: Mapping[str, tuple[str, ...]] = {
    "keda.sh/v1alpha1": ("ScaledJob", "ScaledObject", "TriggerAuthentication"),
    "monitoring.coreos.com/v1": ("PodMonitor", "PrometheusRule", "ServiceMonitor"),
}
# Two groups have an Event; the client distinguishes them by a prefix.
PREFIXED = {("v1", "Event"): "CoreV1Event", ("events.k8s.io/v1", "Event"): "EventsV1Event"}
_PROTOCOLS = ("TCP", "UDP", "SCTP")
WORDS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("V1PodSpec", "restartPolicy"): ("Always", "OnFailure", "Never"),
    ("V1PodSpec", "dnsPolicy"): ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
    ("V1PodSpec", "preemptionPolicy"): ("PreemptLowerPriority", "Never"),
    ("V1Container", "imagePullPolicy"): ("Always", "IfNotPresent", "Never"),
    ("V1Container", "terminationMessagePolicy"): ("File", "FallbackToLogsOnError"),
    ("V1ContainerPort", "protocol"): _PROTOCOLS,
    ("V1HTTPGetAction", "scheme"): ("HTTP", "HTTPS"),
    ("V1ImageVolumeSource", "pullPolicy"): ("Always", "IfNotPresent", "Never"),
    ("V1SeccompProfile", "type"): ("RuntimeDefault", "Localhost", "Unconfined"),
    ("V1Toleration", "operator"): ("Exists", "Equal", "Lt", "Gt"),
    ("V1Toleration", "effect"): ("NoSchedule", "PreferNoSchedule", "NoExecute"),
    ("V1Taint", "effect"): ("NoSchedule", "PreferNoSchedule", "NoExecute"),
    ("V1NodeSelectorRequirement", "operator"): ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"),
    ("V1LabelSelectorRequirement", "operator"): ("In", "NotIn", "Exists", "DoesNotExist"),
    ("V1TopologySpreadConstraint", "whenUnsatisfiable"): ("DoNotSchedule", "ScheduleAnyway"),
    ("V1ServiceSpec", "type"): ("ClusterIP", "NodePort", "LoadBalancer", "ExternalName"),
    ("V1ServiceSpec", "sessionAffinity"): ("None", "ClientIP"),
    ("V1ServicePort", "protocol"): _PROTOCOLS,
    ("V1DeploymentStrategy", "type"): ("Recreate", "RollingUpdate"),
    ("V1StatefulSetUpdateStrategy", "type"): ("OnDelete", "RollingUpdate"),
    ("V1StatefulSetSpec", "podManagementPolicy"): ("OrderedReady", "Parallel"),
    ("V1PersistentVolumeClaimSpec", "volumeMode"): ("Block", "Filesystem"),
    ("V1PersistentVolumeClaimSpec", "accessModes"): (
        "ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod",
    ),
    ("V1NetworkPolicySpec", "policyTypes"): ("Ingress", "Egress"),
    ("V1NetworkPolicyPort", "protocol"): _PROTOCOLS,
    ("V1PodDisruptionBudgetSpec", "unhealthyPodEvictionPolicy"): ("IfHealthyBudget", "AlwaysAllow"),
    ("V1JobSpec", "completionMode"): ("Indexed", "NonIndexed"),
    ("V1CronJobSpec", "concurrencyPolicy"): ("Allow", "Forbid", "Replace"),
    ("V1HTTPIngressPath", "pathType"): ("Exact", "Prefix", "ImplementationSpecific"),
    ("RbacV1Subject", "kind"): ("User", "Group", "ServiceAccount"),
    ("V1RoleRef", "kind"): ("Role", "ClusterRole"),
    ("V2HPAScalingPolicy", "type"): ("Pods", "Percent"),
}  # fmt: skip
# Declared as object in the models, but a number or a text.
NUMBER_OR_TEXT = {"port", "targetPort", "maxSurge", "maxUnavailable", "minAvailable"}
QUANTITIES = {"limits", "requests", "hard", "capacity", "allocatable", "overhead"}
ONE_QUANTITY = {"sizeLimit", "averageValue", "divisor"}
_JSON_WORDS = {dict: "object", list: "array", str: "string", bool: "bool", int: "number", float: "number"}
_QUANTITY = re.compile(r"^[+-]?(\d+|\d+\.\d*|\.\d+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$")
_TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$")


@dataclass(frozen=True)
class SchemaProblem:
    """One thing that an API server would refuse.

    Attributes:
        path: where, as `spec.containers[0].image`.
        kind: unknown, type, missing or word.
        message: a whole sentence's worth.
        json_type: JSON's word for what is there, of a wrong type (`string`, `number`, ...).
    """

    path: str
    kind: str
    message: str
    json_type: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


@dataclass(frozen=True)
class Field:
    """One field of a model: the client's name of its type, and whether it is required."""

    type: str
    required: bool


def model_of(api_version: str, kind: str) -> str:
    """The client's class for a kind; empty where this check does not know it."""
    if kind.endswith("List") and kind.removesuffix("List") in KINDS.get(api_version, ()):
        return f"V1{kind}" if (api_version, kind[:-4]) not in PREFIXED else PREFIXED[api_version, kind[:-4]] + "List"
    if kind not in KINDS.get(api_version, ()):
        return ""
    version = api_version.rpartition("/")[2]
    return PREFIXED.get((api_version, kind), version.capitalize() + kind)


@cache
def fields_of(model: str) -> Mapping[str, Field]:
    """The fields of a model by their names in JSON."""
    from kubernetes import client

    model_class = getattr(client, model)
    # A field whose name is a word of Python has another one in the class, and its own as an alias.
    needed = {
        field.serialization_alias or name: field.is_required() for name, field in model_class.model_fields.items()
    }
    names = model_class.attribute_map
    return {
        names[name]: Field(type_, required=needed[names[name]]) for name, type_ in model_class.openapi_types.items()
    }


def problems(document: Any) -> list[SchemaProblem]:
    """Everything that is wrong with one manifest, in the order of its fields."""
    if not isinstance(document, dict):
        return [SchemaProblem("", "type", "is not an object")]
    named = (str(document.get("apiVersion", "")), str(document.get("kind", "")))
    model = model_of(*named)
    if named[1] in FOREIGN.get(named[0], ()):
        return [problem for problem in (_name_problem(document), _spec_problem(document)) if problem is not None]
    if not model:
        return [
            SchemaProblem("", "word", f"no kind {named[1] or '(none)'} in version {named[0] or '(none)'} is known here")
        ]
    return list(_object(document, model, ""))


def of_model(value: Any, model: str, path: str = "") -> list[SchemaProblem]:
    """Problems of a part of a manifest, given the client's class for it (as `V1PodSpec`)."""
    return list(_object(value, model, path))


def _name_problem(document: Json) -> SchemaProblem | None:
    metadata = document.get("metadata")
    named = isinstance(metadata, dict) and (metadata.get("name") or metadata.get("generateName"))
    return None if named else SchemaProblem("metadata.name", "missing", "is required")


def _spec_problem(document: Json) -> SchemaProblem | None:
    return None if isinstance(document.get("spec"), dict) else SchemaProblem("spec", "missing", "is required")


def _object(value: Any, model: str, path: str) -> Iterator[SchemaProblem]:
    if not isinstance(value, dict):
        yield _wrong(path, "an object", value)
        return
    known = fields_of(model)
    for name, inner in value.items():
        field_path = f"{path}.{name}" if path else str(name)
        if name not in known:
            yield SchemaProblem(
                field_path, "unknown", f"unknown field, {model.removeprefix('V1')} has none of this name"
            )
        elif inner is not None:
            yield from _value(inner, known[name].type, field_path, str(name))
            yield from _words(inner, model, str(name), field_path)
    for name, field in known.items():
        if field.required and value.get(name) is None:
            yield SchemaProblem(f"{path}.{name}" if path else name, "missing", "is required")


def _value(value: Any, type_: str, path: str, name: str) -> Iterator[SchemaProblem]:
    if type_.startswith("List["):
        yield from _list(value, type_[5:-1], path, name)
    elif type_.startswith("Dict["):
        yield from _map(value, type_[5:-1].partition(", ")[2], path, name)
    elif type_[0] == "V" or "V1" in type_:
        yield from _object(value, type_, path)
    else:
        yield from _scalar(value, type_, path, name)


def _list(value: Any, inner: str, path: str, name: str) -> Iterator[SchemaProblem]:
    if not isinstance(value, list):
        yield _wrong(path, "a list", value)
        return
    for index, item in enumerate(value):
        yield from _value(item, inner, f"{path}[{index}]", name)


def _map(value: Any, inner: str, path: str, name: str) -> Iterator[SchemaProblem]:
    if not isinstance(value, dict):
        yield _wrong(path, "an object", value)
        return
    for key, item in value.items():
        field_path = f"{path}.{key}"
        if not isinstance(key, str):
            yield _wrong(field_path, "a text as key", key)
        elif name in QUANTITIES and inner == "str":
            yield from _quantity(item, field_path)
        elif item is not None:
            yield from _value(item, inner, field_path, "")


def _quantity(value: Any, path: str) -> Iterator[SchemaProblem]:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        yield _wrong(path, "a quantity", value)
    elif not _QUANTITY.match(str(value)):
        yield SchemaProblem(path, "word", f"{value!r} is no quantity, as 500m, 2 or 4Gi are")


def _scalar(value: Any, type_: str, path: str, name: str) -> Iterator[SchemaProblem]:
    if type_ == "object":
        if name in NUMBER_OR_TEXT and (isinstance(value, bool) or not isinstance(value, int | str)):
            yield _wrong(path, "a number or a text", value)
    elif name in ONE_QUANTITY:
        yield from _quantity(value, path)
    elif type_ == "datetime":
        if not isinstance(value, str) or not _TIME.match(value):
            yield _wrong(path, "a time (RFC 3339)", value)
    elif not _is(value, type_):
        yield _wrong(path, {"str": "a text", "int": "a whole number", "bool": "true or false"}.get(type_, type_), value)


def _is(value: Any, type_: str) -> bool:
    if isinstance(value, bool):
        return type_ == "bool"
    kinds: Mapping[str, type | tuple[type, ...]] = {
        "str": str, "bytes": str, "int": int, "float": (int, float), "bool": bool,
    }  # fmt: skip
    return isinstance(value, kinds[type_])


def _words(value: Any, model: str, name: str, path: str) -> Iterator[SchemaProblem]:
    words = WORDS.get(("V1Container" if model == "V1EphemeralContainer" else model, name))
    if words is None:
        return
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, str) and item not in words:
            yield SchemaProblem(path, "word", f"{item!r} is none of {', '.join(words)}")


def _wrong(path: str, type_name: str, value: Any) -> SchemaProblem:
    word = _JSON_WORDS.get(type(value), "null")
    return SchemaProblem(path, "type", f"should be {type_name}, is {value!r:.60} ({word})", word)
