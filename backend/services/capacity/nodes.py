"""Nodes of a cluster as reported by workers, and their attempts when they are lost."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Node
from backend.db.repositories.capacity import leases
from backend.db.repositories.capacity import nodes as repository
from backend.domain.machines.nodes import NodeReport, NodeState
from backend.services.events import worker_wakeup
from backend.services.lifecycle.lease_reaper import end_on_nodes

PROVIDER = "k8s"
DELETED = "the cluster has no such node any more"


def observe(
    session: Session, cluster: str, reports: Iterable[NodeReport], *, whole: bool, unseen: float = 0.0
) -> list[str]:
    """Stores a worker's report about a cluster. Several workers may report the same; only changes are written.

    Call `move_off` afterwards in its own transaction.

    Args:
        session: the transaction.
        cluster: its name as used by its workers.
        reports: current nodes.
        whole: these are all nodes of the cluster: others are gone.
        unseen: seconds; nodes seen by anybody since are not gone.

    Returns:
        Names of the nodes whose state, reason or slots have changed.
    """
    repository.lock_cluster(session, cluster)
    nodes, now = repository.of_cluster(session, cluster), {report.name: report for report in reports}
    if whole:
        others = repository.unseen(session, cluster, unseen) - now.keys()
        now |= {name: _deleted_node(nodes[name]) for name in others}
    for name in now.keys() - nodes.keys():
        nodes[name] = Node(cluster=cluster, name=name, state=NodeState.READY.value)
        session.add(nodes[name])
    session.flush()  # The slots below need their nodes' ids.
    changed = {name for name, node in now.items() if _differs(nodes[name], _keep_given_up(nodes[name], node))}
    numbers = repository.slot_numbers(session, cluster, PROVIDER)
    resized = {name: node for name, node in now.items() if numbers.get(nodes[name].id, 0) != node.slots}
    # A node that is gone keeps its slots: leases refer to them until they are revoked.
    offered = [(nodes[name].id, node.slots) for name, node in sorted(resized.items()) if node.state != NodeState.GONE]
    repository.offer_slots(session, PROVIDER, offered)
    repository.touch(session, [nodes[name].id for name, node in now.items() if node.state != NodeState.GONE])
    changed |= {name for name, node in resized.items() if node.state != NodeState.GONE}
    if any(now[name].state == NodeState.READY for name in changed):
        worker_wakeup.wake_workers(session)
    return sorted(changed)


def move_off(session: Session, cluster: str) -> list[UUID]:
    """Ends every lease on lost nodes; their attempts are lost (`cluster`) and retried elsewhere.

    Safe to call concurrently and repeatedly.

    Returns:
        The lost attempts.
    """
    return end_on_nodes(session, cluster)


@dataclass(frozen=True)
class LeasedNodeSlot:
    """A leased slot of a cluster, and what runs under the lease; None between attempts."""

    lease_id: UUID
    slot_id: UUID
    node: str
    index: int
    fence: int
    acquired_at: datetime
    run_id: UUID | None
    episode_id: UUID | None
    attempt_id: UUID | None


def leases_of(session: Session, worker_id: UUID) -> list[LeasedNodeSlot]:
    """A worker's leases in clusters."""
    return [LeasedNodeSlot(*row) for row in leases.in_clusters(session, worker_id)]


def live_fences(session: Session, fences: Iterable[int]) -> set[int]:
    """Which of these fencing tokens belong to live leases."""
    return leases.live_fences(session, fences)


def _deleted_node(node: Node) -> NodeReport:
    return NodeReport(name=node.name, state=NodeState.GONE, reason=DELETED, labels=node.labels, capacity=node.capacity)


def _keep_given_up(node: Node, report: NodeReport) -> NodeReport:
    """A lost node stays lost until it responds: another worker may not have waited as long yet."""
    if node.state == NodeState.LOST and report.state == NodeState.UNREADY:
        return report.model_copy(update={"state": NodeState.LOST})
    return report


def _differs(node: Node, report: NodeReport) -> bool:
    """Updates the row. True if state or reason changed."""
    values: Mapping[str, Any] = {
        "state": report.state.value,
        "reason": report.reason,
        "labels": dict(report.labels),
        "capacity": dict(report.capacity),
    }
    changed = {name for name, value in values.items() if getattr(node, name) != value}
    for name in changed:
        setattr(node, name, values[name])
    return bool(changed & {"state", "reason"})
