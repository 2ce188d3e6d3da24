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
    def test_it_holds_for_the_leases_time(self, hold: HeldLease, clock: FakeClock) -> None:
        clock.advance(9.9)
        hold.check()

    def test_without_heartbeat_it_is_lost(self, hold: HeldLease, clock: FakeClock) -> None:
        clock.advance(10.0)
        with pytest.raises(LeaseLost):
            hold.check()
        assert not hold.writable

    def test_a_heartbeat_counts_from_when_it_was_sent(self, hold: HeldLease, clock: FakeClock) -> None:
        sent = clock.now()
        clock.advance(8.0)
        hold.renewed(sent)
        clock.advance(3.0)
        assert hold.expired

    def test_a_heartbeat_prolongs_it(self, hold: HeldLease, clock: FakeClock) -> None:
        clock.advance(8.0)
        hold.renewed(clock.now())
        clock.advance(8.0)
        assert not hold.expired

    def test_a_lease_counts_from_when_it_was_asked_for(self, clock: FakeClock) -> None:
        assert HeldLease(LeaseGrant(uuid4(), "fake"), 10.0, since=clock.now() - 10.0, now=clock.now).expired


class TestStop:
    def test_the_reason_is_raised(self, hold: HeldLease) -> None:
        hold.stop(Cancelled("the run was cancelled"))
        with pytest.raises(Cancelled):
            hold.check()

    def test_the_first_reason_stays(self, hold: HeldLease) -> None:
        hold.stop(Cancelled("first"))
        hold.stop(ClusterLost("second"))
        assert isinstance(hold.error, Cancelled)
        assert hold.writable

    def test_a_lost_lease_overrides_as_nothing_may_be_written(self, hold: HeldLease) -> None:
        hold.stop(ClusterLost("shutting down"))
        hold.stop(LeaseLost("taken over"))
        assert not hold.writable

    def test_the_desktop_is_destroyed(self, hold: HeldLease) -> None:
        opened = FakeOpenDesktop(FakeDesktop(), SlotRef(0))
        hold.attach(opened)
        hold.stop(ClusterLost("shutting down"))
        until(lambda: opened.closed == 1)

    def test_a_desktop_that_was_opened_too_late_is_refused(self, hold: HeldLease) -> None:
        hold.stop(ClusterLost("shutting down"))
        with pytest.raises(ClusterLost):
            hold.attach(FakeOpenDesktop(FakeDesktop(), SlotRef(0)))

    def test_one_that_the_attempt_closed_itself_is_left_alone(self, hold: HeldLease) -> None:
        opened = FakeOpenDesktop(FakeDesktop(), SlotRef(0))
        hold.attach(opened)
        hold.detach()
        hold.stop(ClusterLost("shutting down"))
        assert opened.closed == 0


class TestHolds:
    def test_knows_what_is_held(self, hold: HeldLease) -> None:
        holds = HeldLeases()
        holds.add(hold)
        assert holds.all() == [hold]
        holds.remove(hold)
        holds.remove(hold)
        assert holds.all() == []
