import threading

import pytest

from worker.models.rate_limiter import RateLimiter
from worker.models.wait_timer import WaitTimer


class WaitingClock:
    """A clock that moves when somebody waits."""

    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at

    def pause(self, seconds: float) -> None:
        self.at += seconds


def times(gate: RateLimiter, clock: WaitingClock, number: int, tokens: int = 0) -> list[int]:
    """When that many requests were let through, in whole seconds from the first."""
    found = []
    for _ in range(number):
        with gate.turn(clock.pause) as turn:
            turn.tokens = tokens
            found.append(int(clock.at - 100 + 0.01))
    return found


class TestTurn:
    def test_without_limits_calls_do_not_wait(self) -> None:
        clock = WaitingClock()
        assert times(RateLimiter(1, now=clock), clock, 5) == [0] * 5

    def test_limits_requests_per_minute(self) -> None:
        clock = WaitingClock()
        assert times(RateLimiter(9, requests=2, now=clock), clock, 5) == [0, 0, 60, 60, 120]

    def test_limits_tokens_per_minute(self) -> None:
        clock = WaitingClock()
        assert times(RateLimiter(9, tokens=1000, now=clock), clock, 4, tokens=600) == [0, 0, 60, 60]

    def test_a_request_under_way_is_reckoned_like_the_one_before(self) -> None:
        clock = WaitingClock()
        gate = RateLimiter(9, tokens=1000, now=clock)
        times(gate, clock, 1, tokens=600)
        with gate.turn(clock.pause) as second:
            assert second.tokens == 600

    def test_never_more_at_once_than_allowed(self) -> None:
        gate, most, lock, under_way = RateLimiter(2), 0, threading.Lock(), 0
        wait = threading.Event().wait

        def ask() -> None:
            nonlocal most, under_way
            with gate.turn(lambda _: (wait(0.001), None)[1]):
                with lock:
                    under_way += 1
                    most = max(most, under_way)
                wait(0.005)
                with lock:
                    under_way -= 1

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert most == 2

    def test_a_place_is_given_back_when_the_request_fails(self) -> None:
        clock = WaitingClock()
        gate = RateLimiter(1, now=clock)
        with pytest.raises(KeyError), gate.turn(clock.pause):
            raise KeyError
        assert times(gate, clock, 1) == [0]

    def test_stopping_ends_the_wait(self) -> None:
        def pause(_: float) -> None:
            raise InterruptedError

        gate = RateLimiter(1)
        with gate.turn(pause), pytest.raises(InterruptedError), gate.turn(pause):
            pass

    def test_rest_pauses_all_calls_for_at_most_a_minute(self) -> None:
        clock = WaitingClock()
        gate = RateLimiter(9, now=clock)
        gate.rest(5)
        assert times(gate, clock, 1) == [5]
        gate.rest(3600)
        assert times(gate, clock, 1) == [65]

    def test_model_rest_pauses_only_that_model_and_reports_the_reason(self) -> None:
        clock = WaitingClock()
        gate = RateLimiter(9, now=clock)
        gate.rest(5, "large", "HTTP 429: slow down")
        told: list[tuple[str, float]] = []
        with gate.turn(clock.pause, "small", lambda *rest: told.append(rest)):
            assert (clock.at, told) == (100.0, [])
        with gate.turn(clock.pause, "large", lambda *rest: told.append(rest)):
            assert int(clock.at + 0.01) == 105
        assert told[0] == ("HTTP 429: slow down", 5.0)
        assert 0 < told[-1][1] <= 0.21


class TestLimited:
    def test_reports_how_long_a_call_has_waited(self) -> None:
        clock = WaitingClock()
        gate, waited = RateLimiter(9, requests=1, now=clock), WaitTimer(clock)
        told = []

        def pause(seconds: float) -> None:
            clock.pause(seconds)
            told.append(waited.limited_seconds())

        for _ in range(2):
            with waited.limited() as let_through, gate.turn(pause):
                let_through()
                clock.pause(5.0)
                assert waited.limited_seconds() == 0.0
        assert told[0] < 1.0
        assert max(told) > 50.0
        assert waited.limited_seconds() == 0.0
