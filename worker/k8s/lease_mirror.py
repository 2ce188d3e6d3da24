"""Mirrors our slot leases into the cluster at a bounded rate. A failure ends no attempt."""

import logging
import time
from collections.abc import Callable
from uuid import UUID

from backend.domain.errors import Unavailable
from backend.domain.machines.slots import SlotRef
from backend.services.capacity import nodes
from backend.services.periodic_thread import PeriodicThread
from worker.base.database import Database
from worker.k8s import lease_objects
from worker.k8s.cluster import LEASES, PODS, Cluster, ClusterError, Object, ObjectConflict, ObjectNotFound
from worker.k8s.lease_objects import SlotHold, WrittenLease

LOOK_SECONDS = 2.0
SWEEP_SECONDS = 60.0
MOST_WRITES = 40
"""Writes per round, that is 20 per second per worker at most."""
_ROUNDS = 3
logger = logging.getLogger(__name__)


class LeaseMirror(PeriodicThread):
    """Background thread that writes a Lease object for each leased slot, and annotations on the slot's pod.

    Postgres is the truth. An object of an earlier lease is overwritten. An object of a later lease makes us check
    Postgres: if our lease is over, this worker is notified that it has been superseded.

    Args:
        database: with the leases.
        cluster: to mirror into. The service account needs get, list, create, update and delete of leases.
        owner: name of the installation, a label of its objects.
        worker: our id and name; None before we are registered.
        pod_name: returns the name of a slot's pod.
        on_takeover: called with a lease that belongs to somebody else now, and the reason.
        clock: seconds since 1970.
    """

    def __init__(  # noqa: PLR0913 - what it works with
        self,
        database: Database,
        cluster: Cluster,
        *,
        owner: str,
        worker: Callable[[], tuple[UUID, str] | None],
        pod_name: Callable[[SlotRef], str],
        on_takeover: Callable[[UUID, str], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(
            "mirror",
            self._look_and_sweep,
            every=LOOK_SECONDS,
            broken="mirroring leases raised",
            away="leases cannot be mirrored",
            errors=(ClusterError, Unavailable),
        )
        self._database, self._cluster, self._owner = database, cluster, owner
        self._worker, self._pod_name, self._on_takeover, self._clock = worker, pod_name, on_takeover, clock
        self._written: dict[str, WrittenLease] = {}
        self._left: set[UUID] = set()
        self._sweep_at = 0.0

    def stop(self, seconds: float = 3.0) -> None:
        """Stops it, and removes what it wrote for leases that have ended. Safe to call twice."""
        super().stop(seconds)
        if self._thread.ident is not None:
            self._safely(self.look)

    def look(self) -> None:
        """One round: writes what is due. Raises ClusterError, Unavailable; the rest is due again next time."""
        who = self._worker()
        if who is None:
            return
        holds = {
            holding.name: holding
            for holding in self._database.once(lambda session: _slot_holds(nodes.leases_of(session, who[0])))
        }
        self._left &= {hold.lease_id for hold in holds.values()}
        mirrored = {name: holding for name, holding in holds.items() if holding.lease_id not in self._left}
        for name, holding in lease_objects.due(mirrored, self._written, time.monotonic(), MOST_WRITES):
            if holding is None:
                self._remove(name)
            else:
                self._write(holding, who[1])

    def sweep(self) -> int:
        """Removes expired objects whose lease has ended, from all workers. Returns their number.

        Raises:
            ClusterError: The cluster does not respond.
            Unavailable: The database is unavailable; nothing is removed then.
        """
        listed = self._cluster.list(LEASES, labels=lease_objects.selector(self._owner)).items
        past = [holding for holding in listed if lease_objects.is_past(holding, self._clock())]
        fences = {lease_objects.fence_of(holding) for holding in past}
        live = self._database.once(lambda session: nodes.live_fences(session, fences))
        orphans = [holding for holding in past if lease_objects.fence_of(holding) not in live][:MOST_WRITES]
        return sum(self._delete(orphan) for orphan in orphans)

    def _look_and_sweep(self) -> None:
        """A failure to mirror does not affect leases, nor prevent sweeping."""
        try:
            self.look()
        finally:
            if time.monotonic() >= self._sweep_at:
                self._sweep_at = time.monotonic() + SWEEP_SECONDS
                if removed := self.sweep():
                    logger.info("removed %d Lease objects without a holder", removed)

    def _write(self, hold: SlotHold, worker: str) -> None:
        written = self._written.get(hold.name)
        body = lease_objects.lease(hold, worker, self._owner, self._clock())
        lease: Object | None
        try:
            if written is None or written.hold.slot.fence != hold.slot.fence:
                lease = self._cluster.create(LEASES, body)
            else:
                lease = self._put(hold, worker, written.version, written.transitions)
        except (ObjectConflict, ObjectNotFound):
            # It exists already or differs from what we wrote: its current content counts.
            lease = self._settle(hold, worker)
        if lease is None:
            return
        metadata = lease["metadata"]
        noted = written is not None and written.noted and written.hold == hold
        self._written[hold.name] = WrittenLease(
            hold,
            uid=metadata["uid"],
            version=metadata["resourceVersion"],
            at=time.monotonic(),
            transitions=lease_objects.transitions_of(lease),
            noted=noted or self._note(hold),
        )

    def _put(self, hold: SlotHold, worker: str, version: str, transitions: int) -> Object:
        body = lease_objects.lease(hold, worker, self._owner, self._clock(), transitions=transitions, version=version)
        return self._cluster.replace(LEASES, body)

    def _settle(self, hold: SlotHold, worker: str) -> Object | None:
        """Takes the object over, unless a later lease ended ours; None then, or if another writer was faster."""
        try:
            lease = self._cluster.get(LEASES, hold.name)
        except ObjectNotFound:
            self._written.pop(hold.name, None)  # Made anew at the next look.
            return None
        fence, own_fence = lease_objects.fence_of(lease), hold.slot.fence
        if fence > own_fence and not self._database.once(lambda session: nodes.live_fences(session, [own_fence])):
            self._left.add(hold.lease_id)
            self._written.pop(hold.name, None)
            self._on_takeover(
                hold.lease_id, (f"{lease_objects.holder_of(lease)} holds the slot {hold.slot} under a later lease")
            )
            return None
        transitions = lease_objects.transitions_of(lease) + (fence != own_fence)
        try:
            return self._put(hold, worker, lease["metadata"]["resourceVersion"], transitions)
        except (ObjectConflict, ObjectNotFound):
            return None

    def _note(self, hold: SlotHold) -> bool:
        """Annotates the slot's pod with what runs in it. False while there is no pod."""
        try:
            self._cluster.patch(
                PODS, self._pod_name(hold.slot), {"metadata": {"annotations": lease_objects.notes(hold)}}
            )
        except (ObjectNotFound, ObjectConflict):
            return False
        return True

    def _remove(self, name: str) -> None:
        """Removes the object of an ended lease, unless it belongs to another lease by now."""
        written = self._written[name]
        try:
            lease = self._cluster.get(LEASES, name)
            if lease_objects.fence_of(lease) == written.hold.slot.fence:
                self._delete(lease)
        except ObjectNotFound:
            pass
        if written.noted:
            self._blank(written.hold)
        del self._written[name]

    def _blank(self, hold: SlotHold) -> None:
        """Clears the pod's annotations, unless the slot is leased again."""
        for _ in range(_ROUNDS):
            try:
                metadata = (pod := self._cluster.get(PODS, self._pod_name(hold.slot)))["metadata"]
                if lease_objects.fence_of(pod) == hold.slot.fence:
                    # Of this very version: it may be taken over at this moment.
                    as_found = {name: metadata[name] for name in ("uid", "resourceVersion")}
                    blank = dict.fromkeys(lease_objects.notes(hold), "")
                    self._cluster.patch(PODS, metadata["name"], {"metadata": {**as_found, "annotations": blank}})
            except ObjectNotFound:
                return
            except ObjectConflict:
                continue
            return

    def _delete(self, lease: Object) -> bool:
        metadata = lease["metadata"]
        try:
            return self._cluster.delete(LEASES, metadata["name"], uid=metadata["uid"])
        except ObjectConflict:
            return False  # Another one has that name now.


def _slot_holds(slots: list[nodes.LeasedNodeSlot]) -> list[SlotHold]:
    return [
        SlotHold(
            lease_id=slot.lease_id,
            slot=SlotRef(slot.index, slot.node, str(slot.slot_id), slot.fence),
            acquired_at=slot.acquired_at.timestamp(),
            run=str(slot.run_id or ""),
            episode=str(slot.episode_id or ""),
            attempt=str(slot.attempt_id or ""),
        )
        for slot in slots
    ]
