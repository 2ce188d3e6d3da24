"""Claims work: leases on slots, and episodes with a new attempt each. Order: `episode_scheduler`."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Slot, Worker
from backend.db.models.enums import SlotState, WorkerState
from backend.db.repositories.capacity import leases, workers
from backend.db.repositories.scheduling import scheduler
from backend.domain.errors import LeaseLost
from backend.domain.machines.nodes import NodeState, cluster_of
from backend.domain.machines.slots import SlotRef
from backend.services.capacity import maintenance_mode
from backend.services.capacity.worker_capabilities import images_of
from backend.services.capacity.workers import register_worker, update_worker, worker_heartbeat
from backend.services.lifecycle.lease_reaper import drain, reap, release_lease
from backend.services.scheduling import attempt_start, episode_scheduler
from backend.services.scheduling.claim_types import Claim, Fence, LeasedSlot

__all__ = [
    "Claim",
    "Fence",
    "claim_many",
    "claim_next",
    "drain",
    "reap",
    "register_worker",
    "release_lease",
    "update_worker",
    "worker_heartbeat",
]


def claim_many(session: Session, worker_id: UUID, provider: str, number: int) -> list[Claim]:
    """Leases up to `number` free slots and starts an attempt in each, in one transaction.

    Without work it is cheap and leaves nothing behind, so workers may poll every 2 s. Order of episodes:
    docs/internals/scheduling.md. One whose task needs a licence waits for free seats, which its attempt holds while it
    is live.

    Args:
        session: the transaction. Nobody else gets a slot until it ends: keep it short.
        worker_id: the worker. One that drains or was given up gets nothing.
        provider: kind of desktop.
        number: maximum.

    Returns:
        Started attempts, each under its own lease; fewer than `number` if slots, work or quotas are exhausted.
    """
    worker = workers.get(session, worker_id)
    if worker is None or worker.state != WorkerState.ONLINE or number < 1:
        return []
    able = episode_scheduler.able_of(worker, provider)
    if not episode_scheduler.open_to(session, able):
        return []  # Nobody else should have to wait for that.
    scheduler.enter(session)
    if maintenance_mode.is_on(session):
        return []
    slots = leases.free_slots(session, worker, provider, number)
    starting = episode_scheduler.start_episodes(session, able, len(slots)) if slots else []
    if not starting:
        return []
    new_leases = leases.insert_leases(session, worker.id, [slot.id for slot in slots[: len(starting)]])
    nodes = _nodes(session, worker, provider, slots)
    places = [
        _place(worker, slot, nodes.get(slot.node_id, ""), *lease)
        for slot, lease in zip(slots, new_leases, strict=False)
    ]
    return attempt_start.begin(session, starting, places, images_of(worker.capabilities, provider))


def claim_next(session: Session, lease_id: UUID) -> Claim | None:
    """Starts an attempt at the next waiting episode under an existing lease; None if nothing waits for this worker.

    A lease carries one attempt at a time and is reused while worker, node and slot accept new work: on a cordoned node
    the current desktop is the last.

    Raises:
        LeaseLost: The lease was released or revoked.
    """
    scheduler.enter(session)  # Before the lease: whoever assigns slots may hold its run.
    idle = leases.lock_idle(session, lease_id)
    if idle is None:
        raise LeaseLost("the lease belongs to another worker or is in use")
    lease, slot, worker, node = idle
    offered = slot.state == SlotState.FREE and node.state == NodeState.READY
    if worker.state != WorkerState.ONLINE or not offered:
        return None
    if maintenance_mode.is_on(session):
        return None
    lease.wait_reason, lease.model_wait = "", None  # They belonged to the previous attempt, which has ended.
    starting = episode_scheduler.start_episodes(session, episode_scheduler.able_of(worker, slot.provider), 1, leases=1)
    if not starting:
        return None
    places = [_place(worker, slot, node.name if node.cluster else "", lease.id, lease.fencing_token)]
    return attempt_start.begin(session, starting, places, images_of(worker.capabilities, slot.provider))[0]


def _nodes(session: Session, worker: Worker, provider: str, slots: Sequence[Slot]) -> Mapping[UUID, str]:
    """Names of the slots' nodes in the worker's cluster, by node id; not needed for its own machine."""
    if not cluster_of(worker.capabilities, provider):
        return {}
    return workers.node_names(session, {slot.node_id for slot in slots})


def _place(worker: Worker, slot: Slot, node: str, lease_id: UUID, token: int) -> LeasedSlot:
    return LeasedSlot(worker.id, lease_id, slot.id, SlotRef(slot.index, node, str(slot.id), token), slot.provider)
