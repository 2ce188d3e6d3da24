"""`python -m worker.k8s.preflight`: whether pods of virtual machines can run in the configured cluster, and why not.

Started by `deskarena doctor`. Prints one JSON object: `state` (`ok`, `missing`, `broken`), `detail` and `install`.
Creates nothing: rights are queried, and a pod is only validated by the API server.
"""

import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from backend.config import Settings, get_settings
from backend.domain.errors import Invalid
from worker.k8s import manifests
from worker.k8s.client import configured, connect
from worker.k8s.cluster import (
    CLAIMS,
    EVENTS,
    LEASES,
    NODES,
    PODS,
    SECRETS,
    Cluster,
    ClusterError,
    ObjectNotFound,
    RequestRefused,
    ResourceKind,
)
from worker.k8s.manifests import PodResources
from worker.k8s.node_rules import EVERY, emulated_words
from worker.k8s.plan import PodPlan, Volume
from worker.k8s.pod_inventory import emulated
from worker.k8s.probe_placement import ready_nodes

REVIEWS = ResourceKind("selfsubjectaccessreviews", "authorization.k8s.io", namespaced=False)
_NEEDED = (
    (PODS, ("create", "get", "list", "watch", "patch", "delete")),
    (SECRETS, ("create", "get")),
    (EVENTS, ("list", "watch")),
    (LEASES, ("create", "get", "list", "update", "delete")),
)
_NODES = ((NODES, ("list", "watch")),)
_SMALL = PodResources(64, 0.05)


@dataclass(frozen=True)
class PreflightResult:
    """The result. `install`: what to do; empty if all is well."""

    state: str
    detail: str
    install: str = ""


def examine(settings: Settings) -> PreflightResult:
    """Checks everything in the order of need; returns the first problem."""
    if not settings.k8s_pod_image:
        return PreflightResult(
            "missing",
            "no container image for pods is configured",
            "set DESKARENA_K8S_POD_IMAGE (docs/deploy-kubernetes.md) to use a cluster",
        )
    if not configured(settings.kubeconfig):
        return PreflightResult(
            "missing", "no cluster is configured", "set KUBECONFIG, or run the worker in the cluster"
        )
    try:
        plan = PodPlan.from_settings(settings)
    except Invalid as error:
        return PreflightResult("broken", error.message, f"correct {error.path} (docs/settings.md)")
    try:
        cluster = connect(settings.kubeconfig, settings.k8s_namespace)
    except ClusterError as error:
        return PreflightResult("broken", error.message, "set KUBECONFIG to a file that works with kubectl")
    try:
        wrong = next(_wrongs(settings, plan, cluster), None)
        notes = f"{_emulation_warning(plan, cluster)}{_unseen(settings, cluster)}"
        return wrong or PreflightResult("ok", (f"pods can be created {_where(cluster)} of {cluster.address}{notes}"))
    except ClusterError as error:
        return PreflightResult("broken", error.message, f"check the API server at {cluster.address}")
    finally:
        cluster.close()


def _wrongs(settings: Settings, plan: PodPlan, cluster: Cluster) -> Iterator[PreflightResult]:
    if lacking := _lacking(cluster, (*_NEEDED, *(_NODES if settings.k8s_nodes else ()))):
        install = (
            "bind the Role in deploy/k8s/components/k8s-worker to this account; for nodes, that in components/nodes"
        )
        yield PreflightResult("broken", f"this account may not {lacking} {_where(cluster)}", install)
    yield from _pod_wrongs(plan, cluster)
    yield from _node_wrongs(settings, plan, cluster)
    yield from _claim_wrongs(plan, cluster)


def _where(cluster: Cluster) -> str:
    return f"in the namespace {cluster.namespace}"


def _unseen(settings: Settings, cluster: Cluster) -> str:
    """Facts that are unknown if slots have no nodes, although pods can be created."""
    lacking = "" if settings.k8s_nodes else _lacking(cluster, _NODES)
    if not lacking:
        return ""
    return (
        f"; this account may not {lacking}, so new attempts also start in existing pods on "
        "cordoned nodes and nodes about to be removed: bind the ClusterRole in "
        "deploy/k8s/components/nodes to it"
    )


def _emulation_warning(plan: PodPlan, cluster: Cluster) -> str:
    """Results of pods that tried to boot a machine with KVM: nothing else shows whether a node's device works."""
    if not plan.kvm:
        return "; DESKARENA_K8S_KVM_RESOURCE is empty: machines are emulated"
    slow = emulated(cluster.list(PODS, labels=manifests.selector(plan)).items)
    if not slow:
        return f"; whether {plan.kvm} boots machines is untested: the first pod on each node tests it"
    return "".join(f"; node {node}: {emulated_words(reason)}" for node, reason in sorted(slow.items()))


def _lacking(cluster: Cluster, rights: Iterable[tuple[ResourceKind, tuple[str, ...]]]) -> str:
    return ", ".join(
        f"{verb} {resource.plural}" for resource, verbs in rights for verb in verbs if not _may(cluster, resource, verb)
    )


def _may(cluster: Cluster, resource: ResourceKind, verb: str) -> bool:
    attributes = {"verb": verb, "group": resource.group, "resource": resource.plural}
    if resource.namespaced:
        attributes["namespace"] = cluster.namespace
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview"}
    review = cluster.create(REVIEWS, {**body, "metadata": {}, "spec": {"resourceAttributes": attributes}})
    return bool((review.get("status") or {}).get("allowed"))


def _pod_wrongs(plan: PodPlan, cluster: Cluster) -> Iterator[PreflightResult]:
    body = manifests.trial(plan, _SMALL, -1, worker="doctor", now=time.time())
    try:
        cluster.create(PODS, body, dry_run=True)
    except ObjectNotFound as error:
        yield PreflightResult("missing", error.message, f"kubectl create namespace {cluster.namespace}")
    except RequestRefused as error:
        yield PreflightResult(
            "broken", f"the cluster would refuse a pod: {error.message}", "see docs/deploy-kubernetes.md"
        )


def _node_wrongs(settings: Settings, plan: PodPlan, cluster: Cluster) -> Iterator[PreflightResult]:
    if not settings.k8s_nodes:
        if not settings.k8s_slots:
            yield PreflightResult(
                "broken", "the number of slots is not configured", "set DESKARENA_K8S_NODES or DESKARENA_K8S_SLOTS"
            )
        return
    labels = "" if settings.k8s_nodes == EVERY else settings.k8s_nodes
    nodes = cluster.list(NODES, labels=labels).items
    if not nodes:
        yield PreflightResult("missing", f"no node matches {labels}", "label nodes, or change DESKARENA_K8S_NODES")
    elif plan.kvm and not any(_offers(node.get("status") or {}, plan.kvm) for node in nodes):
        install = "install a device plugin for /dev/kvm, or set DESKARENA_K8S_KVM_RESOURCE to its resource"
        yield PreflightResult("missing", f"none of {len(nodes)} nodes offers {plan.kvm}", install)


def _offers(status: dict[str, dict[str, str]], device: str) -> bool:
    return (status.get("allocatable") or {}).get(device, "0") not in {"", "0"}


def _claim_wrongs(plan: PodPlan, cluster: Cluster) -> Iterator[PreflightResult]:
    named = [volume for volume in (plan.images, plan.templates) if volume.kind in {"claim", "clone"}]
    nodes = ready_nodes(cluster, plan) if plan.by_node else []
    for name in dict.fromkeys(name for volume in named for name in _claims(volume, nodes)):
        try:
            cluster.get(CLAIMS, name)
        except ObjectNotFound:
            install = "create the PersistentVolumeClaim with the machine images, or name another one"
            yield PreflightResult("missing", f"the claim {name} does not exist in {cluster.namespace}", install)
        except RequestRefused:
            return  # Workers need no permission for claims; pods report their problems.


def _claims(volume: Volume, nodes: Sequence[str]) -> list[str]:
    return [volume.claim(node) for node in nodes] if volume.by_node else [volume.what]


def main() -> int:
    sys.stdout.write(json.dumps(asdict(examine(get_settings()))) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
