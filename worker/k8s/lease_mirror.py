"""Mirrors our holds on a cluster's slots into the cluster, at a bounded rate. Its failure ends no attempt."""

import logging
import time
from collections.abc import Callable
from uuid import UUID

from backend.domain.errors import Unavailable
from backend.domain.machines.slots import SlotRef
from backend.services.capacity import nodes
from worker.base.database import Database
from worker.base.periodic_thread import PeriodicThread
from worker.k8s import lease_objects
from worker.k8s.cluster import LEASES, PODS, Cluster, ClusterError, Object, ObjectConflict, ObjectNotFound
from worker.k8s.lease_objects import SlotHold, WrittenLease

LOOK_SECONDS = 2.0
SWEEP_SECONDS = 60.0
MOST_WRITES = 40
"""In one look, so 20 a second for one worker, whatever happens."""
_ROUNDS = 3
logger = logging.getLogger(__name__)


class LeaseMirror(PeriodicThread):
    """A thread that writes a Lease object for each slot that this worker holds, and notes on the slot's pod.

    Whatever the cluster says, Postgres decides. An object that tells of an earlier hold is overwritten. One that tells
    of a later hold makes us ask Postgres again: if our lease is over, this worker was left behind, and is told so.
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
        """Takes note; `start` begins.

        Args:
            database: where the holds are.
            cluster: where they are mirrored. The service account needs get, list, create, update and delete of leases.
            owner: name of the installation, a label of its objects.
            worker: our id and name; None before the database knows us.
            pod_name: of a slot's pod.
            on_takeover: called with a lease that somebody else has by now, and why we think so.
            clock: seconds since 1970.
        """
        super().__init__(
            "mirror",
            self._look_and_sweep,
            every=LOOK_SECONDS,
            broken="mirroring holds failed",
            away="holds cannot be mirrored",
            errors=(ClusterError, Unavailable),
        )
        self._database, self._cluster, self._owner = database, cluster, owner
        self._worker, self._pod_name, self._taken, self._clock = worker, pod_name, on_takeover, clock
        self._written: dict[str, WrittenLease] = {}
        self._left: set[UUID] = set()
        self._sweep_at = 0.0

    def stop(self, seconds: float = 3.0) -> None:
        """Ends it, and removes what it wrote for holds that have ended. Safe to call twice."""
        super().stop(seconds)
        if self._thread.ident is not None:
            self._safely(self.look)

    def look(self) -> None:
        """Once: writes what is due. Raises ClusterError, Unavailable; then the rest is due again next time."""
        who = self._worker()
        if who is None:
            return
        holds = {
            each.name: each for each in self._database.once(lambda session: _slot_holds(nodes.held_by(session, who[0])))
        }
        self._left &= {each.lease_id for each in holds.values()}
        ours = {name: each for name, each in holds.items() if each.lease_id not in self._left}
        for name, each in lease_objects.due(ours, self._written, time.monotonic(), MOST_WRITES):
            if each is None:
                self._remove(name)
            else:
                self._write(each, who[1])

    def sweep(self) -> int:
        """Removes objects past their deadline whose lease has ended, whoever wrote them. Returns how many.

        Raises:
            ClusterError: the cluster does not answer.
            Unavailable: the database does not; nothing is removed then.
        """
        listed = self._cluster.list(LEASES, labels=lease_objects.selector(self._owner)).items
        past = [each for each in listed if lease_objects.is_past(each, self._clock())]
        fences = {lease_objects.fence_of(each) for each in past}
        live = self._database.once(lambda session: nodes.live_fences(session, fences))
        orphans = [each for each in past if lease_objects.fence_of(each) not in live][:MOST_WRITES]
        return sum(self._delete(each) for each in orphans)

    def _look_and_sweep(self) -> None:
        """A hold that cannot be mirrored stays a hold, and keeps nothing from being swept."""
        try:
            self.look()
        finally:
            if time.monotonic() >= self._sweep_at:
                self._sweep_at = time.monotonic() + SWEEP_SECONDS
                if removed := self.sweep():
                    logger.info("%d Lease objects that nobody holds were removed", removed)

    def _write(self, hold: SlotHold, worker: str) -> None:
        known = self._written.get(hold.name)
        body = lease_objects.lease(hold, worker, self._owner, self._clock())
        lease: Object | None
        try:
            if known is None or known.hold.slot.fence != hold.slot.fence:
                lease = self._cluster.create(LEASES, body)
            else:
                lease = self._put(hold, worker, known.version, known.transitions)
        except (ObjectConflict, ObjectNotFound):
            # It is there already, or is not what we wrote: what counts is what it says now.
            lease = self._settle(hold, worker)
        if lease is None:
            return
        about = lease["metadata"]
        noted = known is not None and known.noted and known.hold == hold
        self._written[hold.name] = WrittenLease(
            hold,
            uid=about["uid"],
            version=about["resourceVersion"],
            at=time.monotonic(),
            transitions=lease_objects.transitions_of(lease),
            noted=noted or self._note(hold),
        )

    def _put(self, hold: SlotHold, worker: str, version: str, transitions: int) -> Object:
        body = lease_objects.lease(hold, worker, self._owner, self._clock(), transitions=transitions, version=version)
        return self._cluster.replace(LEASES, body)

    def _settle(self, hold: SlotHold, worker: str) -> Object | None:
        """Takes the object over, unless a later hold ended ours; None where that is so, or somebody else was faster."""
        try:
            lease = self._cluster.get(LEASES, hold.name)
        except ObjectNotFound:
            self._written.pop(hold.name, None)  # Made anew at the next look.
            return None
        fence, ours = lease_objects.fence_of(lease), hold.slot.fence
        if fence > ours and not self._database.once(lambda session: nodes.live_fences(session, [ours])):
            self._left.add(hold.lease_id)
            self._written.pop(hold.name, None)
            self._taken(
                hold.lease_id, f"{lease_objects.holder_of(lease)} holds the slot {hold.slot} under a later lease"
            )
            return None
        transitions = lease_objects.transitions_of(lease) + (fence != ours)
        try:
            return self._put(hold, worker, lease["metadata"]["resourceVersion"], transitions)
        except (ObjectConflict, ObjectNotFound):
            return None

    def _note(self, hold: SlotHold) -> bool:
        """Says on the slot's pod what runs in it. False while there is no pod."""
        try:
            self._cluster.patch(
                PODS, self._pod_name(hold.slot), {"metadata": {"annotations": lease_objects.notes(hold)}}
            )
        except (ObjectNotFound, ObjectConflict):
            return False
        return True

    def _remove(self, name: str) -> None:
        """The hold has ended: its object goes, unless it tells of another's hold by now."""
        known = self._written[name]
        try:
            lease = self._cluster.get(LEASES, name)
            if lease_objects.fence_of(lease) == known.hold.slot.fence:
                self._delete(lease)
        except ObjectNotFound:
            pass
        if known.noted:
            self._blank(known.hold)
        del self._written[name]

    def _blank(self, hold: SlotHold) -> None:
        """Nothing runs in the slot's pod any more, unless somebody holds it under another lease by now."""
        for _ in range(_ROUNDS):
            try:
                about = (pod := self._cluster.get(PODS, self._pod_name(hold.slot)))["metadata"]
                if lease_objects.fence_of(pod) == hold.slot.fence:
                    # Of just this version: at this moment it may be taken over.
                    as_found = {name: about[name] for name in ("uid", "resourceVersion")}
                    blank = dict.fromkeys(lease_objects.notes(hold), "")
                    self._cluster.patch(PODS, about["name"], {"metadata": {**as_found, "annotations": blank}})
            except ObjectNotFound:
                return
            except ObjectConflict:
                continue
            return

    def _delete(self, lease: Object) -> bool:
        about = lease["metadata"]
        try:
            return self._cluster.delete(LEASES, about["name"], uid=about["uid"])
        except ObjectConflict:
            return False  # Another one has that name now.


def _slot_holds(slots: list[nodes.LeasedNodeSlot]) -> list[SlotHold]:
    return [
        SlotHold(
            lease_id=each.lease_id,
            slot=SlotRef(each.index, each.node, str(each.slot_id), each.fence),
            acquired_at=each.acquired_at.timestamp(),
            run=str(each.run_id or ""),
            episode=str(each.episode_id or ""),
            attempt=str(each.attempt_id or ""),
        )
        for each in slots
    ]
