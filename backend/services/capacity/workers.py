"""Registration and heartbeats of workers, and their end when they fall silent."""

import os
import socket
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Worker
from backend.db.models.enums import SlotState, WorkerState
from backend.db.repositories.capacity import leases
from backend.db.repositories.capacity import workers as repository
from backend.domain.errors import Conflict, LeaseFailure, NotFound
from backend.domain.machines.nodes import cluster_of
from backend.domain.model.model_wait import ModelWait
from backend.services.accounts import audit
from backend.services.accounts.principal import principal_of
from backend.services.events import worker_wakeup
from backend.services.lifecycle.lease_reaper import end_worker

_SAME_MOMENT = 1.0
"""Seconds by which a process may seem younger than its own row (two clocks, coarse ticks)."""


def host_identity() -> str:
    """Identifies this machine since its boot, and this pid namespace: if equal, process ids are comparable."""
    parts = [socket.gethostname()]
    for path in ("/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"):
        try:
            file = Path(path)
            parts.append(str(file.readlink()) if file.is_symlink() else file.read_text(encoding="ascii").strip()[:8])
        except OSError:
            parts.append("?")
    return "/".join(parts)


@dataclass(frozen=True)
class WorkerInfo:
    """A worker's description of itself.

    Attributes:
        name: display name.
        node: name of the machine whose slots it works on.
        slots: number of slots by provider; for a cluster (`capabilities.providers.NAME.cluster`), the maximum number of
            desktops that the worker runs there: the slots are the cluster's.
        capabilities: `{providers: {name: {ok, reason, programs}}, agents: {name: {about, schema, observation,
            action_space, privileged}}, observations: [...], action_spaces: [...], models: {}, hindrance: why it starts
            nothing now, only while it does not}`.
        host: machine and pid namespace; see `host_identity`.
    """

    name: str
    node: str
    version: str
    slots: Mapping[str, int]
    capabilities: Mapping[str, Any]
    pid: int = field(default_factory=os.getpid)
    host: str = field(default_factory=host_identity)


def is_running(worker: Worker) -> bool:
    """Whether the worker's process still exists on this host; a younger process with the same id is another one."""
    import psutil

    try:
        born = psutil.Process(worker.pid).create_time()
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True
    return born <= worker.started_at.timestamp() + _SAME_MOMENT


def register_worker(session: Session, info: WorkerInfo, *, running: Callable[[Worker], bool] = is_running) -> Worker:
    """Registers a worker with its node and slots, and ends dead workers of the same host with their attempts.

    Args:
        session: the transaction.
        info: the worker's description.
        running: tells whether a worker of this host is still running.
    """
    node = repository.node(session, info.node)
    _offer_slots(session, node.id, info)
    for host_worker in repository.on_host(session, info.host):
        if host_worker.pid == info.pid or not running(host_worker):
            end_worker(session, host_worker, LeaseFailure.GONE, "the worker's process is gone")
    worker = Worker(
        name=info.name,
        node_id=node.id,
        pid=info.pid,
        host=info.host,
        version=info.version,
        capabilities=_to_payload(info),
        state=WorkerState.ONLINE.value,
    )
    session.add(worker)
    session.flush()  # The caller needs the id.
    return worker


def worker_heartbeat(
    session: Session, worker_id: UUID, lease_ids: Iterable[UUID], waits: Mapping[UUID, ModelWait] | None = None
) -> set[UUID]:
    """Renews worker and leases. Returns those of `lease_ids` that are still ours; end the attempts of all others.

    Args:
        session: the transaction.
        worker_id: the worker.
        lease_ids: leases that it believes to have.
        waits: calls of models that attempts wait for, by lease; a run with a limited one starts no more episodes.

    Raises:
        NotFound: the worker is unknown; register again.
    """
    if repository.beat(session, worker_id) is None:
        raise NotFound(f"there is no worker {worker_id}", code="worker_not_found", hint="Register again.")
    renewed = leases.beat(session, worker_id, lease_ids)
    leases.note_waits(session, worker_id, waits or {})
    return renewed


def set_draining(session: Session, worker_id: UUID, *, draining: bool) -> None:
    """Drains a worker (it finishes its attempts and gets no more) or resumes it.

    It drains until it is resumed or its process starts again. Safe to call twice.

    Raises:
        NotAllowed: only administrators may.
        NotFound: there is no such worker.
        Conflict: it is offline.
    """
    principal_of(session).require_admin()
    worker = repository.get(session, worker_id, lock=True)
    if worker is None:
        raise NotFound(f"there is no worker {worker_id}", code="worker_not_found")
    if worker.state == WorkerState.OFFLINE:
        raise Conflict(f"worker {worker.name} is offline", code="worker_offline", hint="Nothing starts on it.")
    state = WorkerState.DRAINING if draining else WorkerState.ONLINE
    if worker.state != state:
        worker.state = state.value
        audit.record(session, "drain worker" if draining else "resume worker", worker.name)
        if not draining:
            worker_wakeup.wake_workers(session)


def update_worker(session: Session, worker_id: UUID, info: WorkerInfo) -> None:
    """Replaces a worker's capabilities, for example after an image was built. Its attempts continue.

    Raises:
        NotFound: the worker is unknown; register again.
    """
    worker = repository.get(session, worker_id, lock=True)
    if worker is None:
        raise NotFound(f"there is no worker {worker_id}", code="worker_not_found", hint="Register again.")
    _offer_slots(session, worker.node_id, info)
    worker.capabilities = _to_payload(info)


def _to_payload(info: WorkerInfo) -> dict[str, Any]:
    """Its capabilities, with the maximum number of desktops if a provider's slots are a cluster's."""
    providers = {
        name: {**offer, "at_once": info.slots[name]}
        if name in info.slots and cluster_of(info.capabilities, name)
        else offer
        for name, offer in info.capabilities.get("providers", {}).items()
    }
    return {**info.capabilities, "providers": providers}


def _offer_slots(session: Session, node_id: UUID, info: WorkerInfo) -> None:
    """Creates the given number of slots of each provider on a node; surplus free ones are not used any more."""
    numbers = {name: 0 if cluster_of(info.capabilities, name) else number for name, number in info.slots.items()}
    for provider, number in numbers.items():
        for index in range(number):
            repository.make_slot(session, node_id, provider, index)
    session.expire_all()
    for slot in repository.slots(session, node_id):
        if slot.index >= numbers.get(slot.provider, slot.index + 1) and slot.state == SlotState.FREE:
            slot.state, slot.reason = SlotState.DRAINING.value, "the node offers fewer slots now"
