"""The server's defaults where a client says nothing."""

from base64 import b64encode

from tests.fakes.kubernetes.kinds import NAMESPACES, NODES, PODS, SECRETS, Json, Resource

# How long a pod stays on a node that is lost, unless it says otherwise: what the admission plug-in adds.
TOLERATED = 300
_LOST = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def completed(resource: Resource, obj: Json) -> Json:
    """The object with apiVersion, kind and the defaults of its kind; may change its argument."""
    obj["apiVersion"], obj["kind"] = resource.api_version, resource.kind
    if resource is PODS and isinstance(obj.get("spec"), dict):
        _pod(obj)
    elif resource is SECRETS:
        obj.setdefault("type", "Opaque")
        for name, value in (obj.pop("stringData", None) or {}).items():
            obj.setdefault("data", {})[name] = b64encode(str(value).encode()).decode()
    elif resource is NODES:
        obj.setdefault("spec", {})
        obj.setdefault("status", {})
    elif resource is NAMESPACES:
        obj.setdefault("status", {"phase": "Active"})
        obj.setdefault("spec", {"finalizers": ["kubernetes"]})
        obj["metadata"].setdefault("labels", {})["kubernetes.io/metadata.name"] = obj["metadata"].get("name", "")
    if resource.status:
        obj["metadata"].setdefault("generation", 1)
    return obj


def _pod(pod: Json) -> None:
    spec = pod["spec"]
    for name, value in (
        ("restartPolicy", "Always"), ("dnsPolicy", "ClusterFirst"), ("schedulerName", "default-scheduler"),
        ("terminationGracePeriodSeconds", 30), ("enableServiceLinks", True), ("serviceAccountName", "default"),
        ("securityContext", {}), ("priority", 0), ("preemptionPolicy", "PreemptLowerPriority"),
    ):  # fmt: skip
        spec.setdefault(name, value)
    spec.setdefault("serviceAccount", spec["serviceAccountName"])
    for container in [*(spec.get("initContainers") or []), *(spec.get("containers") or [])]:
        if isinstance(container, dict):
            _container(container)
    tolerations = spec.setdefault("tolerations", [])
    known = {toleration.get("key") for toleration in tolerations if toleration.get("effect") in {None, "", "NoExecute"}}
    if None not in known:
        tolerations += [
            {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": TOLERATED}
            for key in _LOST if key not in known
        ]  # fmt: skip
    pod.setdefault("status", {"phase": "Pending", "qosClass": _quality(spec)})


def _container(container: Json) -> None:
    image = str(container.get("image", ""))
    latest = image.endswith(":latest") or ":" not in image.rpartition("/")[2]
    container.setdefault("imagePullPolicy", "Always" if latest and "@" not in image else "IfNotPresent")
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    resources = container.setdefault("resources", {})
    if resources.get("limits"):
        requests = resources.setdefault("requests", {})
        for name, value in resources["limits"].items():
            requests.setdefault(name, value)
    for port in container.get("ports") or []:
        port.setdefault("protocol", "TCP")


def _quality(spec: Json) -> str:
    named = [
        container.get("resources") or {} for container in spec.get("containers") or [] if isinstance(container, dict)
    ]
    plain = ("cpu", "memory")
    if not any(name in (item.get(part) or {}) for item in named for part in ("requests", "limits") for name in plain):
        return "BestEffort"
    exact = all(
        name in (item.get("limits") or {}) and item["limits"][name] == (item.get("requests") or {}).get(name)
        for item in named for name in plain
    )  # fmt: skip
    return "Guaranteed" if exact else "Burstable"
