"""Placement of pods without a slot, which only list images."""

from backend.domain.machines.nodes import NodeState
from backend.domain.machines.slots import DesktopNeeds
from worker.k8s.cluster import NODES, Cluster
from worker.k8s.node_rules import EVERY, NodeRequirements, node_report
from worker.k8s.plan import PodPlan

ANYWHERE = ""
_ANY = DesktopNeeds(memory=1, cores=0.001, disk=1)
"""The size of a slot is unknown before the images are."""


def places(cluster: Cluster, plan: PodPlan) -> list[str]:
    """Nodes whose pods have their own images; only `ANYWHERE` if all share the same. Raises ClusterError."""
    return ready_nodes(cluster, plan) if plan.images.by_node else [ANYWHERE]


def ready_nodes(cluster: Cluster, plan: PodPlan) -> list[str]:
    """Names of the nodes on which desktops may start, by the rules for slots. Raises ClusterError."""
    wants = NodeRequirements(_ANY, device=plan.kvm, tolerations=plan.tolerations, selected=plan.nodes != EVERY)
    nodes = cluster.list(NODES, labels="" if plan.nodes == EVERY else plan.nodes).items
    results = [node_report(node, wants) for node in nodes]
    return sorted(
        result.name for result in results if result is not None and result.state is NodeState.READY and result.slots
    )
