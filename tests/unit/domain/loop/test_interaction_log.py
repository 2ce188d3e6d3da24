import pytest

from backend.domain.errors import GuestLost
from backend.domain.loop.interaction_log import log_after
from backend.domain.model.trajectory import Interaction
from tests.fakes.desktop import FakeDesktop


class Pages(FakeDesktop):
    """Returns two of five entries at a time."""

    def interactions(self, since: int = 0) -> tuple[Interaction, ...]:
        return tuple(Interaction(number=n, kind="click") for n in range(since + 1, min(since + 3, 6)))


class Same(FakeDesktop):
    """Always returns the same entry."""

    def interactions(self, since: int = 0) -> tuple[Interaction, ...]:  # noqa: ARG002 - the port's signature
        return (Interaction(number=1, kind="click"),)


class TestLogAfter:
    def test_is_read_to_its_end(self) -> None:
        assert [entry.number for entry in log_after(Pages(), 1)] == [2, 3, 4, 5]
        assert log_after(Pages(), 5) == []

    def test_one_without_an_end_is_a_lost_desktop(self) -> None:
        with pytest.raises(GuestLost):
            log_after(Same(), 0)
