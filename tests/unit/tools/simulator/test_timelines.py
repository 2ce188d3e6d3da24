"""Acts happen in the order of their times, and those of one time in the order in which they were asked for."""

import threading

import pytest

from tools.simulator.clock import SimulationClock
from tools.simulator.timelines import RealTime, VirtualTime


class TestVirtualTime:
    def test_jumps_from_act_to_act(self) -> None:
        clock, done = SimulationClock(), list[tuple[str, float]]()
        timeline = VirtualTime(clock)
        timeline.later(3600.0, lambda: done.append(("late", timeline.now())))
        timeline.later(5.0, lambda: timeline.later(1.0, lambda: done.append(("next", timeline.now()))))
        timeline.later(5.0, lambda: done.append(("same", timeline.now())))
        timeline.run(lambda: False)
        assert done == [("same", 5.0), ("next", 6.0), ("late", 3600.0)]
        assert clock.seconds == 3600.0

    def test_stops_on_request(self) -> None:
        done: list[int] = []
        timeline = VirtualTime(SimulationClock())
        for at in range(5):
            timeline.later(float(at), lambda at=at: done.append(at))  # type: ignore[misc]
        timeline.run(lambda: len(done) == 2)
        timeline.run(lambda: False, most=3.5)
        assert done == [0, 1, 2, 3]


class TestRealTime:
    def test_does_things_at_the_same_time(self) -> None:
        timeline, meet, met = RealTime(threads=2), threading.Barrier(2, timeout=10), list[int]()

        def act() -> None:
            met.append(meet.wait())

        for _ in range(2):
            timeline.later(0.0, act)
        timeline.run(lambda: len(met) == 2, most=10.0)
        assert sorted(met) == [0, 1]

    def test_an_error_ends_it(self) -> None:
        def fail() -> None:
            raise ZeroDivisionError

        timeline = RealTime(threads=1)
        timeline.later(0.0, fail)
        with pytest.raises(ZeroDivisionError):
            timeline.run(lambda: False, most=10.0)
