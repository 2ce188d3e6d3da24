"""The page about workers: can this installation run what I want?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.repositories import pages_workers as repository
from backend.db.repositories.pages_common import AnyRow
from backend.services.licences import LicenceRow, list_licences
from backend.services.pages_abilities import Abilities, abilities


@dataclass(frozen=True)
class SlotView:
    """One slot and what it does: `state` is free, leased, broken or draining."""

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
class NodeView:
    """A machine with its slots."""

    name: str
    state: str
    labels: Mapping[str, Any]
    slots: list[SlotView]


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
    """Everything on the page."""

    nodes: list[NodeView]
    workers: list[WorkerRow]
    abilities: Abilities
    licences: list[LicenceRow]

    def slots(self, state: str) -> int:
        """Slots in a state, over all nodes."""
        return sum(slot.state == state for node in self.nodes for slot in node.slots)


def workers_page(session: Session) -> WorkersPage:
    """The whole page."""
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
    return WorkersPage(_nodes(repository.slots(session)), workers, abilities(session), list_licences(session))


def _nodes(rows: Sequence[AnyRow]) -> list[NodeView]:
    found: dict[str, NodeView] = {}
    for row in rows:
        node = found.setdefault(row.Node.name, NodeView(row.Node.name, row.Node.state, row.Node.labels, []))
        node.slots.append(_slot(row))
    return list(found.values())


def _slot(row: AnyRow) -> SlotView:
    return SlotView(
        provider=row.Slot.provider,
        index=row.Slot.index,
        state="leased" if row.Lease else row.Slot.state,
        reason=row.Slot.reason,
        worker=row.worker or "",
        task=row.Task.key if row.Task else "",
        episode_id=row.episode_id,
        attempt_id=row.Attempt.id if row.Attempt else None,
        since=row.Lease.acquired_at if row.Lease else None,
    )
