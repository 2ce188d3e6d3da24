"""The workers page."""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.models import Node, Worker
from backend.db.models.enums import SlotState, WorkerState
from backend.db.repositories.capacity import workers_view as repository
from backend.db.repositories.common_queries import AnyRow
from backend.domain.errors import NotFound
from backend.domain.machines.nodes import NodeState
from backend.services.capacity.licences import LicenceView, list_licences
from backend.services.capacity.views.capabilities import RunOptions, abilities
from backend.services.read_model import ReadModel

CLOSED = "closed"
"""State of a slot that is free but unusable, because its node is not ready or no worker can use it."""


class SlotView(ReadModel):
    """The right to run one desktop on one node."""

    node: str
    provider: str
    index: int
    state: str = Field(
        description="free, leased, broken, draining, or closed (its node takes no new work now).", examples=["free"]
    )
    reason: str = Field(default="", description="Why it cannot be used.")
    attempt_id: UUID | None = None
    episode_id: UUID | None = None


class LeasedSlotView(SlotView):
    """A slot with who holds it."""

    worker: str = Field(default="", description="Who holds its lease.")
    task: str = Field(default="", description="What runs there.")
    since: datetime | None = Field(default=None, description="When the lease was taken.")


class NodeView(ReadModel):
    """A machine with slots: a worker's own, or a cluster's node."""

    cluster: str = Field(description="Empty: a worker's own machine.")
    name: str = Field(description="Empty: wherever the cluster's scheduler places a desktop.")
    state: str = Field(description="ready, draining, unready, lost or gone", examples=["draining"])
    reason: str = Field(default="", examples=["cordoned: somebody keeps new pods away from it"])
    last_seen_seconds: float = Field(description="Since a worker last saw it in its cluster, or it was first known.")
    labels: dict[str, str] = Field(default={})
    capacity: dict[str, int] = Field(
        default={}, description="Bytes of `memory` and `disk`, `cpu` in thousandths, `devices`."
    )
    slots: list[LeasedSlotView] = Field(default=[])

    @property
    def title(self) -> str:
        """Its name, or the cluster whose scheduler chooses it."""
        return self.name or f"any node of {self.cluster}"

    def count(self, state: str) -> int:
        """Slots in a state."""
        return sum(slot.state == state for slot in self.slots)

    @property
    def broken(self) -> list[tuple[str, int]]:
        """Reasons of unusable slots with their number, most frequent first."""
        return Counter(slot.reason for slot in self.slots if slot.state == "broken").most_common()


class WorkerView(ReadModel):
    """A process that runs attempts, and its capabilities."""

    id: UUID
    name: str
    node: str
    host: str
    pid: int
    version: str = ""
    state: str = Field(description="online, offline or draining", examples=["online"])
    capabilities: dict[str, Any] = Field(default={})
    slots: list[SlotView] = Field(default=[])
    started_at: datetime
    heartbeat_at: datetime


@dataclass(frozen=True)
class WorkersPage:
    """Content of the workers page."""

    nodes: list[NodeView]
    workers: list[WorkerView]
    abilities: RunOptions
    licences: list[LicenceView]

    def slots(self, state: str) -> int:
        """Slots in a state, over all cluster nodes and machines with a worker."""
        manned = {worker.node for worker in self.workers if worker.state != WorkerState.OFFLINE}
        return sum(node.count(state) for node in self.nodes if node.cluster or node.name in manned)

    @property
    def machines(self) -> list[NodeView]:
        """Workers' own machines."""
        return [node for node in self.nodes if not node.cluster]

    @property
    def clusters(self) -> dict[str, list[NodeView]]:
        """Nodes by cluster."""
        by_cluster: dict[str, list[NodeView]] = {}
        for node in self.nodes:
            if node.cluster:
                by_cluster.setdefault(node.cluster, []).append(node)
        return by_cluster


def workers_page(session: Session) -> WorkersPage:
    nodes = list_nodes(session)
    return WorkersPage(nodes, list_workers(session, nodes), abilities(session), list_licences(session))


def list_workers(session: Session, nodes: Sequence[NodeView] | None = None) -> list[WorkerView]:
    """Workers that were online within the last day, with the slots of their machines."""
    machines = {node.name: node for node in nodes or list_nodes(session) if not node.cluster}
    return [_worker(row.Worker, row.node, machines.get(row.node)) for row in repository.workers(session)]


def get_worker(session: Session, worker_id: UUID) -> WorkerView:
    """A worker that was online within the last day. Raises NotFound."""
    for worker in list_workers(session):
        if worker.id == worker_id:
            return worker
    raise NotFound(f"there is no worker {worker_id}", code="worker_not_found")


def _worker(worker: Worker, name: str, machine: NodeView | None) -> WorkerView:
    """A worker with the slots of its machine: closed if the worker is offline."""
    begins = worker.state == WorkerState.ONLINE
    slots = [] if machine is None else machine.slots
    return WorkerView(
        id=worker.id,
        name=worker.name,
        node=name,
        host=worker.host,
        pid=worker.pid,
        version=worker.version,
        state=worker.state,
        capabilities=worker.capabilities,
        slots=[
            SlotView(
                node=slot.node,
                provider=slot.provider,
                index=slot.index,
                state=slot.state if begins else _open_or_closed(slot.state, begins=False),
                reason=slot.reason,
                attempt_id=slot.attempt_id,
                episode_id=slot.episode_id,
            )
            for slot in slots
        ],
        started_at=worker.started_at,
        heartbeat_at=worker.heartbeat_at,
    )


def list_nodes(session: Session) -> list[NodeView]:
    """Machines and cluster nodes with their slots and lease holders."""
    workers = repository.capabilities(session)
    machines = {row.node_id for row in workers}
    clusters = {
        provider.get("cluster") for row in workers for provider in row.capabilities.get("providers", {}).values()
    }
    slots: dict[UUID, list[AnyRow]] = defaultdict(list)
    for row in repository.slots(session):
        slots[row.Node.id].append(row)
    return [
        _node(row, _idle_reason(row.Node, machines, clusters), slots[row.Node.id]) for row in repository.nodes(session)
    ]


def _idle_reason(node: Node, machines: Collection[UUID], clusters: Collection[str]) -> str:
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


def _node(row: AnyRow, unserved: str, slots: Sequence[AnyRow]) -> NodeView:
    node: Node = row.Node
    state = NodeState.UNREADY.value if unserved else node.state
    return NodeView(
        cluster=node.cluster,
        name=node.name,
        state=state,
        reason=unserved or node.reason,
        last_seen_seconds=max(0.0, float(row.age)),
        labels={name: str(value) for name, value in node.labels.items()},
        capacity=node.capacity,
        slots=[_slot(slot, begins=state == NodeState.READY) for slot in slots],
    )


def _open_or_closed(state: str, *, begins: bool) -> str:
    return CLOSED if state == SlotState.FREE and not begins else state


def _slot(row: AnyRow, *, begins: bool) -> LeasedSlotView:
    return LeasedSlotView(
        node=row.Node.name,
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
