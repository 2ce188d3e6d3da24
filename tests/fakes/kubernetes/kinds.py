"""Resources of the fake API server: one row for each, as discovery lists them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
KVM = "devices.kubevirt.io/kvm"


@dataclass(frozen=True)
class Resource:
    """One kind of object.

    Attributes:
        status: it has a status of its own, which only the subresource writes.
        subresources: what else can be asked of one object.
        blind: whether a PUT without a resourceVersion is taken (leases refuse that).
        upsert: whether a PUT makes what is not there.
    """

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True
    status: bool = False
    subresources: tuple[str, ...] = ()
    blind: bool = True
    upsert: bool = False
    short: tuple[str, ...] = ()

    @property
    def api_version(self) -> str:
        """`v1` or `group/version`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        """`pods` or `leases.coordination.k8s.io`, as the server's sentences name it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


NODES = Resource("", "v1", "nodes", "Node", namespaced=False, status=True, short=("no",))
PODS = Resource(
    "", "v1", "pods", "Pod", status=True, subresources=("log", "eviction", "binding"), short=("po",)
)  # fmt: skip
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False, status=True, short=("ns",))
SECRETS = Resource("", "v1", "secrets", "Secret")
EVENTS = Resource("", "v1", "events", "Event", upsert=True, short=("ev",))
SERVICE_ACCOUNTS = Resource("", "v1", "serviceaccounts", "ServiceAccount", short=("sa",))
QUOTAS = Resource("", "v1", "resourcequotas", "ResourceQuota", status=True, short=("quota",))
LEASES = Resource("coordination.k8s.io", "v1", "leases", "Lease", blind=False, upsert=True)
BUDGETS = Resource(
    "policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", status=True, blind=False, short=("pdb",)
)
NEW_EVENTS = Resource("events.k8s.io", "v1", "events", "Event", upsert=True, short=("ev",))

_RBAC = "rbac.authorization.k8s.io"
RESOURCES = (
    NODES, PODS, NAMESPACES, SECRETS, EVENTS, SERVICE_ACCOUNTS, QUOTAS, LEASES, BUDGETS, NEW_EVENTS,
    Resource("", "v1", "configmaps", "ConfigMap", short=("cm",)),
    Resource("", "v1", "services", "Service", status=True, short=("svc",)),
    Resource("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", status=True, short=("pvc",)),
    Resource("", "v1", "persistentvolumes", "PersistentVolume", namespaced=False, status=True, short=("pv",)),
    Resource("apps", "v1", "deployments", "Deployment", status=True, short=("deploy",)),
    Resource("apps", "v1", "statefulsets", "StatefulSet", status=True, short=("sts",)),
    Resource("apps", "v1", "daemonsets", "DaemonSet", status=True, short=("ds",)),
    Resource("batch", "v1", "jobs", "Job", status=True),
    Resource("batch", "v1", "cronjobs", "CronJob", status=True, short=("cj",)),
    Resource("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", status=True, short=("hpa",)),
    Resource("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", short=("netpol",)),
    Resource("networking.k8s.io", "v1", "ingresses", "Ingress", status=True, short=("ing",)),
    Resource("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", namespaced=False, short=("pc",)),
    Resource("storage.k8s.io", "v1", "storageclasses", "StorageClass", namespaced=False, short=("sc",)),
    Resource(_RBAC, "v1", "roles", "Role"),
    Resource(_RBAC, "v1", "rolebindings", "RoleBinding"),
    Resource(_RBAC, "v1", "clusterroles", "ClusterRole", namespaced=False),
    Resource(_RBAC, "v1", "clusterrolebindings", "ClusterRoleBinding", namespaced=False),
)  # fmt: skip
BY_PATH: Mapping[tuple[str, str, str], Resource] = {
    (resource.group, resource.version, resource.plural): resource for resource in RESOURCES
}
BY_KIND: Mapping[tuple[str, str], Resource] = {
    (resource.api_version, resource.kind): resource for resource in RESOURCES
}


def clone(value: Any) -> Any:
    """A copy of JSON, several times faster than copy.deepcopy."""
    if isinstance(value, dict):
        return {name: clone(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [clone(inner) for inner in value]
    return value
