"""Keeps pods of a cluster ready: checks waiting work, plans, and lets the provider create and remove pods."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Protocol
from uuid import UUID

from backend.domain.machines.slots import SlotRef
from backend.domain.ports.desktop import DesktopSpec
from backend.services.periodic_thread import PeriodicThread
from backend.services.scheduling.warm_pool import WarmDemand, outlook
from worker.base.database import Database
from worker.k8s.warm_plan import WarmPlan, WarmSlot, kind_of, plan

LOOK_SECONDS = 5.0
AT_ONCE = 8
"""Pods that one worker warms in parallel: each boots a machine or loads a template."""


class WarmProvider(Protocol):
    """A provider whose pods can be kept ready."""

    @property
    def cluster(self) -> str:
        """Name of the cluster; see `ClusterProvider`."""

    def warmed(self) -> Mapping[str, str] | None:
        """Slots with a pod, ready or starting, by id -> the kind of desktop. None = unknown now."""

    def warming(self) -> Collection[str]:
        """Ids of slots whose pod is being created."""

    def prepare(self, slot: SlotRef, spec: DesktopSpec) -> None:
        """See `Provider.prepare`: an unleased slot gets a pod with the template of that desktop."""

    def cool(self, slot: SlotRef) -> None:
        """Removes the pod of an idle slot in the background, also one of another worker."""

    def keep(self, slots: Collection[SlotRef]) -> None:
        """Pods of these slots are kept beyond their deadline; other idle ones are not."""


class WarmPool(PeriodicThread):
    """Background thread that plans every few seconds. Nothing waits for it.

    Args:
        database: with slots and waiting work.
        provider: creates pods.
        worker: our id; None before we are registered.
        ahead: pods that each node keeps ready.
        idle: seconds without work after which none are kept.
        every: polling interval in seconds.
    """

    def __init__(  # noqa: PLR0913 - what it works with
        self,
        database: Database,
        provider: WarmProvider,
        *,
        worker: Callable[[], UUID | None],
        ahead: int,
        idle: float,
        every: float = LOOK_SECONDS,
    ) -> None:
        super().__init__("warmer", self.look, every=every, broken="warm pool raised")
        self._database, self._provider, self._worker = database, provider, worker
        self._ahead, self._idle = ahead, idle

    def stop(self, seconds: float = 2.0) -> None:
        """Stops creating pods; existing ones are left to the provider. Safe to call twice."""
        super().stop(seconds)

    def look(self) -> WarmPlan:
        """One round; returns what was done. Raises Unavailable if the database is."""
        worker, cluster = self._worker(), self._provider.cluster
        pods = self._provider.warmed()
        if worker is None or not cluster or pods is None:
            return WarmPlan()
        view = self._database.once(partial(outlook, worker_id=worker, cluster=cluster, seconds=self._idle))
        todo = WarmPlan() if view is None else plan_pods(view, pods, self._ahead)
        specs = {} if view is None else {kind_of(spec): spec for spec in (*view.waiting, *_some(view.last))}
        for slot in todo.remove:
            self._provider.cool(slot)
        room = AT_ONCE - len(self._provider.warming())
        for slot, kind in todo.prepare[: max(0, room)]:
            self._provider.prepare(slot, specs[kind])
        self._provider.keep(todo.keep)
        return todo


def plan_pods(view: WarmDemand, pods: Mapping[str, str], ahead: int) -> WarmPlan:
    """Computes the next plan.

    The last used kind is kept on each node; without work for a while nothing is kept.

    Args:
        view: slots and waiting work.
        pods: kinds of desktop by the slot's id.
        ahead: pods that each node keeps ready.
    """
    slots = [WarmSlot(slot.slot, pods.get(slot.slot.id, ""), slot.leased, slot.usable) for slot in view.slots]
    waiting = Counter({kind_of(spec): number for spec, number in view.waiting.items()})
    if not waiting and view.last is None:
        return WarmPlan(remove=tuple(slot.slot for slot in slots if slot.kind and not slot.leased))
    for last in _some(view.last):
        waiting[kind_of(last)] += ahead * len({slot.slot.node for slot in slots if slot.usable})
    return plan(slots, waiting, ahead)


def _some(spec: DesktopSpec | None) -> Iterable[DesktopSpec]:
    return () if spec is None else (spec,)
