from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

import pytest

from backend.domain.errors import ClusterLost, GuestLost, GuestRefused, MachineLost
from backend.domain.machines.slots import SlotRef
from backend.domain.model.run import ScreenSize
from backend.domain.ports.desktop import Desktop, DesktopSpec
from tests.error_codes import raises_code
from tests.fakes.desktop import FakeDesktop
from tests.fakes.provider import FakeOpenDesktop
from worker.providers._prewarmed import SlotDesktops, SpareDesktop, closed_on_failure, deliver


def failing(error: BaseException) -> int:
    raise error


class TestDeliver:
    def test_the_prepared_desktop_is_delivered(self) -> None:
        coming: Future[int] = Future()
        deliver(coming, lambda: 1)
        assert coming.result(0) == 1

    @pytest.mark.parametrize(
        ("error", "kind", "code", "mentions"),
        [
            (ClusterLost("no room"), ClusterLost, "lost", "no room"),
            (
                GuestRefused("a reply over the limit", kind="too_large"),
                GuestLost,
                "desktop_refused",
                "a reply over the limit",
            ),
            (ValueError("3 is no size"), ClusterLost, "desktop_not_created", "ValueError: 3 is no size"),
        ],
    )
    def test_every_failure_reaches_the_waiting_caller(
        self, error: Exception, kind: type[MachineLost], code: str, mentions: str
    ) -> None:
        coming: Future[int] = Future()
        deliver(coming, lambda: failing(error))
        with raises_code(kind, code, mentions=mentions):
            coming.result(0)


class TestClosedOnFailure:
    def test_a_desktop_that_fails_is_closed(self) -> None:
        made = FakeOpenDesktop(FakeDesktop(), SlotRef(0))
        with pytest.raises(GuestRefused), closed_on_failure(made):
            raise GuestRefused("a reply over the limit")
        assert made.closed == 1

    def test_desktop_stays_open_without_an_error(self) -> None:
        made = FakeOpenDesktop(FakeDesktop(), SlotRef(0))
        with closed_on_failure(made):
            pass
        assert made.closed == 0


class PreparedDesktop:
    """A prepared desktop."""

    def __init__(self) -> None:
        self.details: Mapping[str, Any] = {"path": "clone"}
        self.desktop: Desktop = FakeDesktop()
        self.lives = True
        self.closed = 0

    def alive(self) -> bool:
        return self.lives

    def close(self) -> None:
        self.closed += 1


SPEC = DesktopSpec(screen=ScreenSize(width=1280, height=800))
OTHER = DesktopSpec(screen=ScreenSize(width=640, height=480))


class TestSpare:
    @pytest.fixture
    def made(self) -> PreparedDesktop:
        return PreparedDesktop()

    @pytest.fixture
    def spare(self, made: PreparedDesktop) -> SpareDesktop[PreparedDesktop]:
        spare: SpareDesktop[PreparedDesktop] = SpareDesktop(SPEC, 0.05)
        spare.coming.set_result(made)
        return spare

    def test_a_matching_spare_is_used_and_marked_as_prepared(
        self, spare: SpareDesktop[PreparedDesktop], made: PreparedDesktop
    ) -> None:
        assert spare.is_ready()
        assert spare.take(SPEC) is made
        assert (made.details, made.closed) == ({"path": "clone", "prepared": True}, 0)

    def test_spare_of_another_spec_is_destroyed(
        self, spare: SpareDesktop[PreparedDesktop], made: PreparedDesktop
    ) -> None:
        assert spare.take(OTHER) is None
        assert made.closed == 1

    def test_dead_spare_is_destroyed(self, spare: SpareDesktop[PreparedDesktop], made: PreparedDesktop) -> None:
        made.lives = False
        assert spare.take(SPEC) is None
        assert made.closed == 1

    def test_failed_spare_is_ignored(self) -> None:
        spare: SpareDesktop[PreparedDesktop] = SpareDesktop(SPEC, 0.05)
        spare.coming.set_exception(ClusterLost("no room"))
        assert not spare.is_ready()
        assert spare.take(SPEC) is None
        spare.discard()

    @pytest.mark.parametrize("give_up", [lambda spare: spare.take(SPEC), lambda spare: spare.discard()])
    def test_late_spare_is_destroyed(
        self, made: PreparedDesktop, give_up: Callable[[SpareDesktop[PreparedDesktop]], object]
    ) -> None:
        spare: SpareDesktop[PreparedDesktop] = SpareDesktop(SPEC, 0.05)
        assert give_up(spare) is None
        spare.coming.set_result(made)
        assert made.closed == 1


FIRST, SECOND = SlotRef(0), SlotRef(1)


class TestSlotDesktops:
    @pytest.fixture
    def slots(self) -> SlotDesktops[PreparedDesktop]:
        return SlotDesktops()

    def prepared(self, slots: SlotDesktops[PreparedDesktop], slot: SlotRef = FIRST) -> PreparedDesktop:
        assert slots.prepare(slot, SPEC, PreparedDesktop, seconds=5.0)
        return slots.spares[slot].coming.result(60.0)

    def test_the_prepared_one_is_opened_and_the_former_one_destroyed(
        self, slots: SlotDesktops[PreparedDesktop]
    ) -> None:
        former = slots.open(FIRST, SPEC, PreparedDesktop)
        ahead = self.prepared(slots)
        assert slots.open(FIRST, SPEC, PreparedDesktop) is ahead
        assert (former.closed, ahead.closed, dict(slots.spares)) == (1, 0, {})

    def test_open_replaces_a_spare_of_another_spec(self, slots: SlotDesktops[PreparedDesktop]) -> None:
        ahead = self.prepared(slots)
        assert slots.open(FIRST, OTHER, PreparedDesktop) is not ahead
        assert ahead.closed == 1

    def test_the_same_is_not_prepared_twice_nor_more_than_allowed(self, slots: SlotDesktops[PreparedDesktop]) -> None:
        self.prepared(slots)
        assert not slots.prepare(FIRST, SPEC, PreparedDesktop, seconds=5.0)
        assert not slots.prepare(SECOND, SPEC, PreparedDesktop, seconds=5.0, most=1)

    def test_prepare_replaces_a_spare_of_another_spec(self, slots: SlotDesktops[PreparedDesktop]) -> None:
        ahead = self.prepared(slots)
        assert slots.prepare(FIRST, OTHER, PreparedDesktop, seconds=5.0, most=1)
        assert slots.spares[FIRST].coming.result(60.0) is not ahead
        assert ahead.closed == 1

    def test_discard_one_destroys_one_spare(self, slots: SlotDesktops[PreparedDesktop]) -> None:
        ahead = self.prepared(slots, SECOND)
        assert slots.discard_one()
        assert (ahead.closed, slots.discard_one()) == (1, False)

    def test_close_destroys_all_desktops_and_refuses_new_ones(self, slots: SlotDesktops[PreparedDesktop]) -> None:
        opened, ahead, late = slots.open(FIRST, SPEC, PreparedDesktop), self.prepared(slots, SECOND), PreparedDesktop()
        slots.close()
        assert not slots.prepare(FIRST, SPEC, PreparedDesktop, seconds=5.0)
        with pytest.raises(ClusterLost):
            slots.open(FIRST, SPEC, lambda: late)
        assert (opened.closed, ahead.closed, late.closed) == (1, 1, 1)
