"""The workers page."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Node
from backend.db.models.enums import SlotState, WorkerState
from backend.db.repositories.capacity import workers_view as repository
from backend.db.repositories.common_queries import AnyRow
from backend.domain.machines.nodes import NodeState
from backend.services.capacity.licences import LicenceRow, list_licences
from backend.services.capacity.views.capabilities import RunOptions, abilities
from backend.services.runs.scheduling_settings import ProjectRow, list_projects

CLOSED = "closed"
"""State of a slot that is free but unusable, because its node is not ready or no worker can use it."""


@dataclass(frozen=True)
class SlotRow:
    """One slot: `state` is free, leased, broken, draining, or closed (nothing may start in it now)."""

    provider: str
    index: int
    state: str
    reason: str
    worker: str
    task: str
    episode_id: UUID | None
    attempt_id: UUID | None
    since: datetime | None


@dataclass(frozen=True)
class NodeRow:
    """A machine with its slots; `cluster` is empty for a worker's own machine, `age` in seconds."""

    cluster: str
    name: str
    state: str
    reason: str
    labels: Mapping[str, Any]
    capacity: Mapping[str, Any]
    age: float
    slots: list[SlotRow]

    @property
    def title(self) -> str:
        """Its name, or the cluster whose scheduler chooses it."""
        return self.name or f"any node of {self.cluster}"

    def count(self, state: str) -> int:
        """Slots in a state."""
        return sum(slot.state == state for slot in self.slots)

    def seen_from(self, worker: "WorkerRow") -> list[SlotRow]:
        """Its slots from the view of one worker: closed if that worker cannot start anything."""
        online = worker.state == WorkerState.ONLINE
        return [
            slot if online else replace(slot, state=_open_or_closed(slot.state, begins=False)) for slot in self.slots
        ]

    @property
    def broken(self) -> list[tuple[str, int]]:
        """Reasons of unusable slots with their number, most frequent first."""
        return Counter(slot.reason for slot in self.slots if slot.state == "broken").most_common()


@dataclass(frozen=True)
class WorkerRow:
    """A worker process."""

    id: UUID
    name: str
    node: str
    host: str
    pid: int
    version: str
    state: str
    age: float
    started_at: datetime
    heartbeat_at: datetime
    capabilities: Mapping[str, Any]


@dataclass(frozen=True)
class WorkersPage:
    """Content of the workers page."""

    nodes: list[NodeRow]
    workers: list[WorkerRow]
    abilities: RunOptions
    licences: list[LicenceRow]
    projects: list[ProjectRow]

    def slots(self, state: str) -> int:
        """Slots in a state, over all cluster nodes and machines with a worker."""
        manned = {worker.node for worker in self.workers if worker.state != WorkerState.OFFLINE}
        return sum(node.count(state) for node in self.nodes if node.cluster or node.name in manned)

    @property
    def machines(self) -> list[NodeRow]:
        """Workers' own machines."""
        return [node for node in self.nodes if not node.cluster]

    @property
    def clusters(self) -> dict[str, list[NodeRow]]:
        """Nodes by cluster."""
        by_cluster: dict[str, list[NodeRow]] = {}
        for node in self.nodes:
            if node.cluster:
                by_cluster.setdefault(node.cluster, []).append(node)
        return by_cluster


def workers_page(session: Session) -> WorkersPage:
    workers = [
        WorkerRow(
            id=row.Worker.id,
            name=row.Worker.name,
            node=row.node,
            host=row.Worker.host,
            pid=row.Worker.pid,
            version=row.Worker.version,
            state=row.Worker.state,
            age=float(row.age),
            started_at=row.Worker.started_at,
            heartbeat_at=row.Worker.heartbeat_at,
            capabilities=row.Worker.capabilities,
        )
        for row in repository.workers(session)
    ]
    nodes = list_nodes(session)
    return WorkersPage(nodes, workers, abilities(session), list_licences(session), list_projects(session))


def list_nodes(session: Session) -> list[NodeRow]:
    """Machines and cluster nodes with their slots and lease holders."""
    workers = repository.capabilities(session)
    machines = {row.node_id for row in workers}
    clusters = {each.get("cluster") for row in workers for each in row.capabilities.get("providers", {}).values()}
    nodes = {row.Node.id: _node(row, _unserved(row.Node, machines, clusters)) for row in repository.nodes(session)}
    for row in repository.slots(session):
        if row.Node.id in nodes:
            nodes[row.Node.id].slots.append(_slot(row, begins=nodes[row.Node.id].state == NodeState.READY))
    return list(nodes.values())


def _unserved(node: Node, machines: Collection[UUID], clusters: Collection[str]) -> str:
    """Why nothing can start on a ready node; empty if something can, or if it is not ready.

    Args:
        node: a worker's own machine, or a node of a cluster.
        machines: ids of nodes with an online worker.
        clusters: those in which an online worker can start something.
    """
    if node.state != NodeState.READY:
        return ""
    if node.cluster:
        return "" if node.cluster in clusters else "no worker can start anything in this cluster"
    return "" if node.id in machines else "no worker online"


def _node(row: AnyRow, unserved: str) -> NodeRow:
    node = row.Node
    return NodeRow(
        cluster=node.cluster,
        name=node.name,
        state=NodeState.UNREADY.value if unserved else node.state,
        reason=unserved or node.reason,
        labels=node.labels,
        capacity=node.capacity,
        age=max(0.0, float(row.age)),
        slots=[],
    )


def _open_or_closed(state: str, *, begins: bool) -> str:
    return CLOSED if state == SlotState.FREE and not begins else state


def _slot(row: AnyRow, *, begins: bool) -> SlotRow:
    return SlotRow(
        provider=row.Slot.provider,
        index=row.Slot.index,
        state="leased" if row.Lease else _open_or_closed(row.Slot.state, begins=begins),
        reason=row.Slot.reason,
        worker=row.worker or "",
        task=row.Task.key if row.Task else "",
        episode_id=row.episode_id,
        attempt_id=row.Attempt.id if row.Attempt else None,
        since=row.Lease.acquired_at if row.Lease else None,
    )
