"""How long nobody outside could act, and whether they came back, by a clock of the test."""

import pytest

from backend.domain.errors import ClusterLost
from tests.error_codes import raises_code
from worker.agents.channel_outages import API, API_PATIENCE, BROKER, ChannelOutages


class OutageClock:
    """In the place of `time`."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> OutageClock:
    made = OutageClock()
    monkeypatch.setattr("worker.agents.channel_outages.time", made)
    return made


@pytest.fixture
def outages(clock: OutageClock) -> ChannelOutages:  # noqa: ARG001 - it is read by it.
    return ChannelOutages(10.0)


def pass_by(outages: ChannelOutages, clock: OutageClock, why: str, seconds: int) -> None:
    """Noted every second."""
    for _ in range(seconds):
        clock.now += 1.0
        outages.note(why)


class TestSeconds:
    def test_seconds_add_up_over_outages(self, outages: ChannelOutages, clock: OutageClock) -> None:
        pass_by(outages, clock, "", 3)
        pass_by(outages, clock, BROKER, 4)
        assert outages.seconds() == 3.0  # From the first that was noted.
        pass_by(outages, clock, "", 5)
        assert outages.seconds() == 4.0
        pass_by(outages, clock, API, 3)
        assert outages.seconds() == 6.0

    def test_adjacent_outages_leave_no_gap(self, outages: ChannelOutages, clock: OutageClock) -> None:
        pass_by(outages, clock, BROKER, 4)
        pass_by(outages, clock, API, 4)
        pass_by(outages, clock, "", 1)
        assert outages.seconds() == 8.0


class TestNote:
    def test_reports_the_start_of_an_outage(self, outages: ChannelOutages) -> None:
        assert [outages.note(why) for why in ("", BROKER, BROKER, API, "", API)] == [
            False, True, False, False, False, True,
        ]  # fmt: skip

    def test_a_broker_is_waited_for_as_long_as_a_lease_lives(self, outages: ChannelOutages, clock: OutageClock) -> None:
        pass_by(outages, clock, BROKER, 11)
        with raises_code(ClusterLost, "agent_channel_down"):
            pass_by(outages, clock, BROKER, 1)

    def test_api_outage_is_tolerated_longer_than_a_lease(self, outages: ChannelOutages, clock: OutageClock) -> None:
        pass_by(outages, clock, API, int(API_PATIENCE) + 1)
        with raises_code(ClusterLost, "agent_channel_down", mentions="API"):
            pass_by(outages, clock, API, 1)

    def test_without_polling_an_outage_is_unknown(self, outages: ChannelOutages, clock: OutageClock) -> None:
        pass_by(outages, clock, BROKER, 2)
        clock.now += 60.0
        outages.note(BROKER)
        pass_by(outages, clock, BROKER, 10)


class TestUnheard:
    def test_reason_stays_until_the_agent_is_heard_again(self, outages: ChannelOutages, clock: OutageClock) -> None:
        assert outages.unheard == ""
        pass_by(outages, clock, API, 2)
        pass_by(outages, clock, "", 2)
        assert outages.unheard == API
        outages.end_outage()
        assert outages.unheard == ""
        pass_by(outages, clock, "", 2)
        assert outages.unheard == ""
