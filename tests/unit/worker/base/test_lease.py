from uuid import uuid4

import pytest

from backend.domain.errors import Cancelled, ClusterLost, LeaseLost
from backend.domain.machines.slots import SlotRef
from tests.fakes.clock import FakeClock
from tests.fakes.desktop import FakeDesktop
from tests.fakes.provider import FakeOpenDesktop
from tests.waiting import until
from worker.base.lease import HeldLease, HeldLeases, LeaseGrant


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def hold(clock: FakeClock) -> HeldLease:
    return HeldLease(LeaseGrant(uuid4(), "fake"), 10.0, now=clock.now)


class TestExpiry:
    def test_is_valid_until_the_lease_expires(self, hold: HeldLease, clock: FakeClock) -> None:
        clock.advance(9.9)
        hold.check()

    def test_is_lost_without_a_heartbeat(self, hold: HeldLease, clock: FakeClock) -> None:
        clock.advance(10.0)
        with pytest.raises(LeaseLost):
            hold.check()
        assert not hold.writable

    def test_heartbeat_counts_from_its_send_time(self, hold: HeldLease, clock: FakeClock) -> None:
        sent = clock.now()
        clock.advance(8.0)
        hold.renewed(sent)
        clock.advance(3.0)
        assert hold.expired

    def test_heartbeat_extends_the_lease(self, hold: HeldLease, clock: FakeClock) -> None:
        clock.advance(8.0)
        hold.renewed(clock.now())
        clock.advance(8.0)
        assert not hold.expired

    def test_lease_counts_from_its_request_time(self, clock: FakeClock) -> None:
        assert HeldLease(LeaseGrant(uuid4(), "fake"), 10.0, since=clock.now() - 10.0, now=clock.now).expired


class TestStop:
    def test_check_raises_the_stop_reason(self, hold: HeldLease) -> None:
        hold.stop(Cancelled("the run was cancelled"))
        with pytest.raises(Cancelled):
            hold.check()

    def test_first_stop_reason_wins(self, hold: HeldLease) -> None:
        hold.stop(Cancelled("first"))
        hold.stop(ClusterLost("second"))
        assert isinstance(hold.error, Cancelled)
        assert hold.writable

    def test_lost_lease_overrides_other_reasons(self, hold: HeldLease) -> None:
        hold.stop(ClusterLost("shutting down"))
        hold.stop(LeaseLost("taken over"))
        assert not hold.writable

    def test_stop_destroys_the_desktop(self, hold: HeldLease) -> None:
        opened = FakeOpenDesktop(FakeDesktop(), SlotRef(0))
        hold.attach(opened)
        hold.stop(ClusterLost("shutting down"))
        until(lambda: opened.closed == 1)

    def test_desktop_opened_after_stop_is_refused(self, hold: HeldLease) -> None:
        hold.stop(ClusterLost("shutting down"))
        with pytest.raises(ClusterLost):
            hold.attach(FakeOpenDesktop(FakeDesktop(), SlotRef(0)))

    def test_detached_desktop_is_not_destroyed(self, hold: HeldLease) -> None:
        opened = FakeOpenDesktop(FakeDesktop(), SlotRef(0))
        hold.attach(opened)
        hold.detach()
        hold.stop(ClusterLost("shutting down"))
        assert opened.closed == 0


class TestHolds:
    def test_lists_added_leases_until_removed(self, hold: HeldLease) -> None:
        holds = HeldLeases()
        holds.add(hold)
        assert holds.all() == [hold]
        holds.remove(hold)
        holds.remove(hold)
        assert holds.all() == []
