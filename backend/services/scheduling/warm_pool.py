"""Inputs for the warm-pool planner: cluster slots and upcoming demand."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Run
from backend.db.models.enums import SlotState
from backend.db.repositories.capacity import nodes as repository
from backend.db.repositories.capacity import workers
from backend.domain.machines.image_offers import image_for
from backend.domain.machines.nodes import NodeState
from backend.domain.machines.slots import SlotRef
from backend.domain.ports.desktop import DesktopSpec
from backend.services.capacity.worker_capabilities import images_of
from backend.services.runs.config_cache import UnreadableConfig, config_of
from backend.services.scheduling.episode_scheduler import able_of
from backend.services.scheduling.scheduler_demand import episode_demand

PROVIDER = "k8s"
_MOST = 1000
"""Maximum counted episodes per run: more than any cluster keeps warm."""


@dataclass(frozen=True)
class ClusterSlot:
    """A slot. `usable`: new attempts may start on its node, and the node still offers it."""

    slot: SlotRef
    leased: bool
    usable: bool


@dataclass(frozen=True)
class WarmDemand:
    """Slots and demand.

    Attributes:
        slots: of the cluster, except broken ones, which are handled elsewhere.
        waiting: episodes that would start with enough slots, by desktop.
        last: last used desktop; None if none was used within the given time.
    """

    slots: tuple[ClusterSlot, ...] = ()
    waiting: Mapping[DesktopSpec, int] = field(default_factory=dict)
    last: DesktopSpec | None = None


def outlook(session: Session, worker_id: UUID, cluster: str, seconds: float) -> WarmDemand | None:
    """For the worker that keeps the cluster's pods warm; None for all others.

    Args:
        session: the transaction.
        worker_id: the worker. The first online worker of a cluster has this task.
        cluster: which one.
        seconds: maximum age of the last use.
    """
    worker = workers.get(session, worker_id)
    if worker is None or repository.first_worker(session, cluster, PROVIDER) != worker_id:
        return None
    able, images = able_of(worker, PROVIDER), images_of(worker.capabilities, PROVIDER)

    def specs(run_id: UUID, config: Mapping[str, Any], system: str) -> list[DesktopSpec]:
        try:
            read = config_of(run_id, config)
        except UnreadableConfig:
            return []  # A run written by a newer release is left to its own workers.
        return [DesktopSpec(screen=read.screen, image=image_for(images, read.desktop_image, system))]

    waiting: Counter[DesktopSpec] = Counter()
    for demand in episode_demand(
        session,
        [PROVIDER],
        able=lambda row, need: able.fits(row.agent, row.image) and able.meets(need, row.image),
        leaves=able.leaves,
        most=_MOST,
    ):
        for spec in specs(demand.run_id, session.get_one(Run, demand.run_id).config, demand.need.os):
            waiting[spec] += demand.number
    last = repository.last_used(session, cluster, PROVIDER, workers.now(session) - timedelta(seconds=seconds))
    return WarmDemand(
        slots=tuple(_slots(session, cluster)),
        waiting=waiting,
        last=next(iter(specs(*last)), None) if last is not None else None,
    )


def _slots(session: Session, cluster: str) -> list[ClusterSlot]:
    open_ = {(SlotState.FREE.value, NodeState.READY.value)}
    return [
        ClusterSlot(SlotRef(index, node, str(slot_id)), leased, (state, node_state) in open_)
        for slot_id, node, index, state, node_state, leased in repository.slots_now(session, cluster, PROVIDER)
        if state != SlotState.BROKEN
    ]
