"""Where a pod may go that is of no slot: one that only tells what images there are."""

from backend.domain.machines.nodes import NodeState
from backend.domain.machines.slots import DesktopNeeds
from worker.k8s.cluster import NODES, Cluster
from worker.k8s.node_rules import EVERY, NodeRequirements, node_report
from worker.k8s.plan import PodPlan

ANYWHERE = ""
_ANY = DesktopNeeds(memory=1, cores=0.001, disk=1)
"""How large a slot is nobody knows before the images are known."""


def places(cluster: Cluster, plan: PodPlan) -> list[str]:
    """Nodes whose pods have images of their own; `ANYWHERE` alone where all have the same. Raises ClusterError."""
    return ready_nodes(cluster, plan) if plan.images.by_node else [ANYWHERE]


def ready_nodes(cluster: Cluster, plan: PodPlan) -> list[str]:
    """Names of the nodes that desktops may begin on, by the rules for slots. Raises ClusterError."""
    wants = NodeRequirements(_ANY, device=plan.kvm, tolerations=plan.tolerations, selected=plan.nodes != EVERY)
    nodes = cluster.list(NODES, labels="" if plan.nodes == EVERY else plan.nodes).items
    results = [node_report(node, wants) for node in nodes]
    return sorted(each.name for each in results if each is not None and each.state is NodeState.READY and each.slots)
