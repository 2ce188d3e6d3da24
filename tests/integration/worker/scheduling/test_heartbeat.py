from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar
from uuid import uuid4

import pytest
from sqlalchemy.orm import Session

from backend.domain.errors import Cancelled, LeaseLost
from backend.domain.machines.slots import SlotRef
from backend.services.runs.runs import cancel_run
from backend.services.scheduling import claims
from backend.services.scheduling.claims import Claim
from tests.factories.records import World
from tests.fakes.desktop import FakeDesktop
from tests.fakes.provider import FakeOpenDesktop
from tests.integration.worker.in_process import leases
from tests.waiting import until
from worker.base.database import Database
from worker.base.lease import HeldLease, HeldLeases, LeaseGrant
from worker.scheduling.heartbeat import Heartbeat

T = TypeVar("T")


class Beating:
    """A worker with one claim and a heartbeat that the test triggers."""

    def __init__(self, world: World) -> None:
        self.world = world
        world.benchmark()
        self.worker = world.worker()
        self.run = world.submit()
        self.claim: Claim = world.must_claim(self.worker)
        self.hold = HeldLease(LeaseGrant(self.claim.lease_id, "local"), 60.0)
        self.hold.begins(self.claim.fence)
        self.holds = HeldLeases()
        self.holds.add(self.hold)
        self.heart = Heartbeat(Database(world.factory), self.holds, 3600.0)
        self.heart.start(self.worker.id)


@pytest.fixture
def beating(world: World) -> Iterator[Beating]:
    made = Beating(world)
    yield made
    made.heart.stop()


class TestBeat:
    def test_renews_the_leases(self, beating: Beating) -> None:
        before = leases(beating.world)[0].heartbeat_at
        beating.heart.beat()
        assert leases(beating.world)[0].heartbeat_at > before
        assert beating.hold.error is None

    def test_reports_a_released_lease(self, beating: Beating) -> None:
        beating.world.do(claims.release_lease, beating.claim.lease_id, "taken away")
        beating.heart.beat()
        assert isinstance(beating.hold.error, LeaseLost)

    def test_reports_a_cancelled_run(self, beating: Beating) -> None:
        beating.world.do(cancel_run, beating.run.id)
        beating.heart.beat()
        assert isinstance(beating.hold.error, Cancelled)

    def test_cancellation_does_not_affect_an_ended_attempt(self, beating: Beating) -> None:
        beating.hold.ends()
        beating.world.do(cancel_run, beating.run.id)
        beating.heart.beat()
        assert beating.hold.error is None

    def test_cancellation_does_not_affect_a_newer_attempt(self, beating: Beating) -> None:
        class Slow(Database):
            def once(self, work: Callable[[Session], T]) -> T:
                answer = super().once(work)
                beating.hold.ends()
                beating.hold.begins(replace(beating.claim.fence, attempt_id=uuid4()))
                return answer

        heart = Heartbeat(Slow(beating.world.factory), beating.holds, 3600.0)
        heart.start(beating.worker.id)
        beating.world.do(cancel_run, beating.run.id)
        heart.beat()
        heart.stop()
        assert beating.hold.error is None

    def test_unknown_worker_has_to_register_again(self, beating: Beating) -> None:
        beating.heart.start(uuid4())
        beating.heart.beat()
        assert beating.heart.worker_id is None
        assert isinstance(beating.hold.error, LeaseLost)


def open_desktop() -> FakeOpenDesktop:
    """One that is destroyed when its lease ends."""
    return FakeOpenDesktop(FakeDesktop(), SlotRef(0))


class TestWatch:
    def test_expired_lease_is_noticed_without_the_database(self, beating: Beating) -> None:
        short, desktop = HeldLease(LeaseGrant(beating.claim.lease_id, "local"), 0.1), open_desktop()
        short.attach(desktop)
        beating.holds.add(short)
        until(lambda: desktop.closed, what="the watch has looked")
        assert isinstance(short.error, LeaseLost)

    def test_broken_lease_does_not_block_the_others(self, beating: Beating) -> None:
        asked: list[float] = []

        def broken() -> float:
            asked.append(0.0)
            raise RuntimeError("can't start new thread")

        beating.holds.add(HeldLease(LeaseGrant(uuid4(), "local"), 60.0, since=0.0, now=broken))
        until(lambda: asked, what="the watch has met it")
        short, desktop = HeldLease(LeaseGrant(uuid4(), "local"), 0.1), open_desktop()
        short.attach(desktop)
        beating.holds.add(short)
        until(lambda: desktop.closed, what="the watch has gone on")
        assert isinstance(short.error, LeaseLost)
