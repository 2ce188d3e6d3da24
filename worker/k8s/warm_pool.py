"""Keeps pods of a cluster ready ahead of work: looks what waits, plans, and has the provider make and remove them."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Protocol
from uuid import UUID

from backend.domain.machines.slots import SlotRef
from backend.domain.ports.desktop import DesktopSpec
from backend.services.scheduling.warm_pool import WarmDemand, outlook
from worker.base.database import Database
from worker.base.periodic_thread import PeriodicThread
from worker.k8s.warm_plan import WarmPlan, WarmSlot, kind_of, plan

LOOK_SECONDS = 5.0
AT_ONCE = 8
"""Pods that one worker warms at the same time: each boots a machine or loads a template."""


class WarmProvider(Protocol):
    """A provider whose pods can be kept ready."""

    @property
    def cluster(self) -> str:
        """See `ClusterProvider`."""

    def warmed(self) -> Mapping[str, str] | None:
        """Slots with a pod, ready or on its way, by id: the kind of desktop it is for. None = not known now."""

    def warming(self) -> Collection[str]:
        """Ids of slots whose pod is just being made."""

    def prepare(self, slot: SlotRef, spec: DesktopSpec) -> None:
        """See `Provider.prepare`: a slot that nobody has leased gets a pod with the template of that desktop."""

    def cool(self, slot: SlotRef) -> None:
        """Removes the pod of a slot in which nothing runs, in the background, whoever made it."""

    def keep(self, slots: Collection[SlotRef]) -> None:
        """Pods of these slots are kept beyond their deadline; those of others that nobody uses are not."""


class WarmPool(PeriodicThread):
    """A thread that looks every few seconds. Nothing waits for it."""

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
        """Takes note; `start` begins.

        Args:
            database: where slots are, and what waits.
            provider: makes pods.
            worker: our id; None while the database does not know us.
            ahead: pods that each node keeps ready.
            idle: seconds without work after which none is.
            every: seconds between two looks.
        """
        super().__init__("warmer", self.look, every=every, broken="looking after warm pods failed")
        self._database, self._provider, self._worker = database, provider, worker
        self._ahead, self._idle = ahead, idle

    def stop(self, seconds: float = 2.0) -> None:
        """Has no more made; what is warm goes with the provider. Safe to call twice."""
        super().stop(seconds)

    def look(self) -> WarmPlan:
        """Once; returns what was done. Raises Unavailable: the database is away."""
        worker, cluster = self._worker(), self._provider.cluster
        pods = self._provider.warmed()
        if worker is None or not cluster or pods is None:
            return WarmPlan()
        view = self._database.once(partial(outlook, worker_id=worker, cluster=cluster, seconds=self._idle))
        todo = WarmPlan() if view is None else planned(view, pods, self._ahead)
        specs = {} if view is None else {kind_of(spec): spec for spec in (*view.waiting, *_some(view.last))}
        for slot in todo.remove:
            self._provider.cool(slot)
        room = AT_ONCE - len(self._provider.warming())
        for slot, kind in todo.prepare[: max(0, room)]:
            self._provider.prepare(slot, specs[kind])
        self._provider.keep(todo.keep)
        return todo


def planned(view: WarmDemand, pods: Mapping[str, str], ahead: int) -> WarmPlan:
    """What is to be done.

    What was used last is wanted again on each node; without work for a while nothing is kept at all.

    Args:
        view: slots and what waits.
        pods: kinds of desktop by the slot's id.
        ahead: pods that each node keeps ready.
    """
    slots = [WarmSlot(each.slot, pods.get(each.slot.id, ""), each.leased, each.usable) for each in view.slots]
    waiting = Counter({kind_of(spec): number for spec, number in view.waiting.items()})
    if not waiting and view.last is None:
        return WarmPlan(remove=tuple(each.slot for each in slots if each.kind and not each.leased))
    for last in _some(view.last):
        waiting[kind_of(last)] += ahead * len({each.slot.node for each in slots if each.usable})
    return plan(slots, waiting, ahead)


def _some(spec: DesktopSpec | None) -> Iterable[DesktopSpec]:
    return () if spec is None else (spec,)
