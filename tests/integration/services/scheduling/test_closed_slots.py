"""Why nothing begins where no slot of a cluster can be used: each place that says so gives the cause."""

import datetime as dt
from uuid import UUID

import pytest
from sqlalchemy import select

from backend.db.models import Episode, Slot
from backend.domain.machines.nodes import NodeReport, NodeState
from backend.domain.model.reason import Reason, ReasonCode
from backend.domain.ports.cluster import SlotTrouble
from backend.services.capacity import nodes
from backend.services.capacity.scheduling_fields import SchedulingUpdate
from backend.services.capacity.slot_health import note_troubles
from backend.services.runs import runs, scheduling_settings
from backend.services.runs.views import home
from backend.services.scheduling.wait_reasons import concurrency_of, explain
from tests.factories.records import World
from tests.integration.services.capacity.test_nodes import ZONE, observe, seen, serving

SHOWN = "; see the workers page"


@pytest.fixture
def cluster(ready: World) -> World:
    """A cluster of two nodes with two slots each, and a worker that serves it."""
    serving(ready)
    observe(ready, seen("n1"), seen("n2"))
    return ready


@pytest.fixture
def run(cluster: World) -> UUID:
    """That waits."""
    return UUID(str(cluster.submit(provider="k8s").id))


def told(world: World, run: UUID) -> Reason:
    """The reasons on its episode and on the first page, which is what limits the run."""
    with world.work() as session:
        rows = session.scalars(select(Episode).where(Episode.run_id == run)).all()
        (reason,) = {Reason(each.reason_code, each.text) for each in explain(session, rows).values()}
    assert {wait.reason for wait in world.do(home.home).queue} == {reason}
    limited = world.do(concurrency_of, run)
    assert limited is not None
    assert (limited.limit, limited.slots, limited.limiting_factor) == (0, 0, reason)
    return reason


def break_(world: World, why: str, until: dt.timedelta | None = None) -> None:
    """All slots, each until another moment."""
    slots = world.do(lambda session: [str(each) for each in session.scalars(select(Slot.id))])
    now = dt.datetime.now(dt.UTC)
    ends = {slot: None if until is None else now + until + dt.timedelta(seconds=n) for n, slot in enumerate(slots)}
    world.do(note_troubles, ZONE, "k8s", {slot: SlotTrouble(why, end) for slot, end in ends.items()})


class TestClosedSlots:
    @pytest.mark.parametrize("until", [None, dt.timedelta(minutes=2)])
    def test_pods_that_do_not_start(self, cluster: World, run: UUID, until: dt.timedelta | None) -> None:
        break_(cluster, "the pod's image cannot be pulled: lab/none", until)
        why = "4 broken (its pod does not start: the pod's image cannot be pulled: lab/none)"
        assert told(cluster, run) == Reason(ReasonCode.SLOTS_UNUSABLE, f"no k8s slot is usable: {why}{SHOWN}")

    def test_nodes_that_take_nothing(self, cluster: World, run: UUID) -> None:
        observe(cluster, seen("n1", state=NodeState.DRAINING, reason="cordoned"), seen("n2"))
        break_(cluster, "no device")
        why = "2 broken (its pod does not start: no device), 2 for other reasons"
        assert told(cluster, run) == Reason(ReasonCode.SLOTS_UNUSABLE, f"no k8s slot is usable: {why}{SHOWN}")
        away = [seen(name, state=NodeState.DRAINING, reason="taint a=b:NoSchedule") for name in ("n1", "n2")]
        observe(cluster, *away)
        why = "4 on a node that is draining (taint a=b:NoSchedule)"
        assert told(cluster, run) == Reason(ReasonCode.SLOTS_UNUSABLE, f"no k8s slot is usable: {why}{SHOWN}")

    def test_nodes_that_have_no_room(self, cluster: World, run: UUID) -> None:
        observe(cluster, *(seen(name, 0, reason="no room for a desktop: memory") for name in ("n1", "n2")))
        assert told(cluster, run) == Reason(
            ReasonCode.SLOTS_NOT_OFFERED, f"no node offers k8s slots (no room for a desktop: memory){SHOWN}"
        )

    def test_no_nodes_any_more(self, cluster: World, run: UUID) -> None:
        observe(cluster)
        assert told(cluster, run) == Reason(ReasonCode.SLOTS_NOT_OFFERED, "no node offers k8s slots")

    def test_other_clusters_and_machines_do_not_count(self, cluster: World, run: UUID) -> None:
        cluster.do(nodes.observe, "zone-b", [NodeReport(name="b", state=NodeState.READY, slots=8)], whole=True)
        observe(cluster, *(seen(name, state=NodeState.UNREADY, reason="not ready: silent") for name in ("n1", "n2")))
        why = "4 on a node that is unready (not ready: silent)"
        assert told(cluster, run) == Reason(ReasonCode.SLOTS_UNUSABLE, f"no k8s slot is usable: {why}{SHOWN}")

    def test_less_urgent_run_has_the_same_reason(self, cluster: World, run: UUID) -> None:
        observe(cluster)
        urgent = cluster.submit(provider="k8s")
        cluster.do(scheduling_settings.update_scheduling, urgent.id, SchedulingUpdate(priority=3))
        assert told(cluster, run) == Reason(ReasonCode.SLOTS_NOT_OFFERED, "no node offers k8s slots")
        cluster.do(runs.pause_run, run)
        found = cluster.do(concurrency_of, run)
        assert found is not None
        assert (found.limit, found.limiting_factor.code) == (0, ReasonCode.RUN_PAUSED)
