"""Slots whose pod does not start are not leased, and say why."""

import datetime as dt
from collections.abc import Mapping

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.db.models import Slot
from backend.db.repositories.capacity import leases
from backend.domain.machines.nodes import NodeReport, NodeState
from backend.domain.ports.cluster import SlotTrouble
from backend.services.capacity import nodes
from backend.services.capacity.slot_health import note_troubles
from tests.factories.records import World, capabilities

ZONE = "ns/lab"
WHY = "no node takes the pod: 0/2 nodes are available"


def slots(ready: World) -> dict[int, tuple[str, str, str]]:
    """By index: id, state, reason."""

    def ask(session: Session) -> dict[int, tuple[str, str, str]]:
        found = session.scalars(select(Slot).where(Slot.provider == "k8s"))
        return {slot.index: (str(slot.id), slot.state, slot.reason) for slot in found}

    told: dict[int, tuple[str, str, str]] = ready.do(ask)
    return told


def note(ready: World, troubles: Mapping[str, str], cluster: str = ZONE, until: dt.datetime | None = None) -> int:
    told = {slot: SlotTrouble(why, until) for slot, why in troubles.items()}
    changed: int = ready.do(note_troubles, cluster, "k8s", told)
    return changed


def furnish(ready: World) -> None:
    """A cluster with one node of two slots."""
    ready.do(nodes.observe, ZONE, [NodeReport(name="n1", state=NodeState.READY, slots=2)], whole=True)


def free(ready: World) -> int:
    """Number of slots that a worker of the cluster gets."""
    offer = {"ok": True, "reason": "", "programs": [], "cluster": ZONE}
    worker = ready.worker("w", node="w", slots_by_provider={"k8s": 20}, capabilities=capabilities(k8s=offer))
    found: int = ready.do(lambda session: len(leases.free_slots(session, worker, "k8s", 10)))
    return found


class TestNoteTroubles:
    def test_a_slot_in_trouble_is_not_leased_until_it_is_over(self, ready: World) -> None:
        furnish(ready)
        assert free(ready) == 2
        id_of = {index: each[0] for index, each in slots(ready).items()}
        assert note(ready, {id_of[1]: WHY}) == 1
        assert slots(ready)[1][1:] == ("broken", f"its pod does not start: {WHY}")
        assert free(ready) == 1
        assert note(ready, {id_of[1]: WHY}) == 0, "nothing new is nothing to write"
        assert note(ready, {}) == 1
        assert slots(ready)[1][1:] == ("free", "")
        assert free(ready) == 2

    def test_another_worker_does_not_clear_a_fault_early(self, ready: World) -> None:
        furnish(ready)
        now, rest = dt.datetime.now(dt.UTC), dt.timedelta(minutes=4)
        ids = {index: each[0] for index, each in slots(ready).items()}
        assert note(ready, {ids[0]: "its pod hangs"}, until=now + rest) == 1
        assert note(ready, {}) == 0, "another worker, which knows nothing of it"
        assert note(ready, {ids[0]: "shorter"}, until=now + rest / 2) == 0
        state, reason = slots(ready)[0][1:]
        assert (state, reason.endswith(": its pod hangs")) == ("broken", True)
        assert note(ready, {ids[1]: "its pod hangs"}, until=now - rest) == 1
        assert note(ready, {}) == 1
        assert slots(ready)[1][1:] == ("free", "")

    def test_a_rest_that_ends_later_than_any_was_written_by_a_wrong_clock(self, ready: World) -> None:
        furnish(ready)
        now, hour = dt.datetime.now(dt.UTC), dt.timedelta(hours=1)
        slot = slots(ready)[0][0]
        assert note(ready, {slot: "its pod hangs"}, until=now + hour) == 1
        assert note(ready, {slot: "its pod hangs"}, until=now + hour / 60) == 1, "a right clock"
        assert note(ready, {slot: "its pod hangs"}, until=now + hour) == 1
        assert note(ready, {}) == 1
        assert slots(ready)[0][1:] == ("free", "")

    def test_a_slot_marked_broken_elsewhere_stays_broken(self, ready: World) -> None:
        furnish(ready)

        def take_out(session: Session) -> None:
            for slot in session.scalars(select(Slot).where(Slot.provider == "k8s")):
                slot.state, slot.reason = "broken", "its disk makes noises"

        ready.do(take_out)
        ids = {each[0]: WHY for each in slots(ready).values()}
        assert note(ready, ids) == 0
        assert note(ready, {}) == 0

    def test_slots_of_another_cluster_are_not_changed(self, ready: World) -> None:
        furnish(ready)
        assert note(ready, {slots(ready)[0][0]: WHY}, cluster="ns/other") == 0
