import threading
from collections.abc import Callable

from tests.fakes.clock import FakeClock
from worker.models.wait_timer import WaitTimer


class TestWaited:
    def test_a_call_in_progress_counts_until_its_reply(self) -> None:
        clock = FakeClock()
        waited = WaitTimer(clock.now)
        call = waited.begin()
        clock.advance(10)
        assert waited.seconds() == 10
        assert waited.end(call, 7) == 3
        clock.advance(10)
        assert waited.seconds() == 3

    def test_a_call_without_an_answer_counts_in_full(self) -> None:
        clock = FakeClock()
        waited = WaitTimer(clock.now)
        call = waited.begin()
        clock.advance(10)
        assert waited.end(call, 0) == 10

    def test_is_thread_safe(self) -> None:
        waited = WaitTimer(lambda: 0.0)
        calls: list[Callable[[], float]] = [lambda: waited.end(waited.begin(), 0.0) for _ in range(20)]
        threads = [threading.Thread(target=call) for call in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert waited.seconds() == 0


class TestLongest:
    def test_a_call_is_named_once_it_takes_long(self) -> None:
        clock = FakeClock()
        waited = WaitTimer(clock.now)
        waited.begin("lab", "m-1")
        clock.advance(1.9)
        assert waited.longest(2.0) is None
        clock.advance(12.1)
        wait = waited.longest(2.0)
        assert wait is not None
        assert (wait.endpoint, wait.model, wait.seconds, wait.words) == ("lab", "m-1", 14.0, "")
        assert (wait.retry_seconds, wait.limited) == (None, False)

    def test_reports_the_api_message_and_the_next_retry(self) -> None:
        clock = FakeClock()
        waited = WaitTimer(clock.now)
        call = waited.begin("lab", "m-1")
        waited.failed(call, "HTTP 429: slow down", 20.0)
        clock.advance(5)
        wait = waited.longest(2.0)
        assert wait is not None
        assert (wait.failures, wait.words, wait.retry_seconds) == (1, "HTTP 429: slow down", 15.0)
        waited.asking(call)
        again = waited.longest(2.0)
        assert again is not None
        assert (again.retry_seconds, again.words) == (None, "HTTP 429: slow down")
        waited.end(call, 0.0)
        assert waited.longest(0.0) is None

    def test_a_call_that_others_hold_up_has_their_words(self) -> None:
        clock = FakeClock()
        waited = WaitTimer(clock.now)
        call = waited.begin("lab", "m-1")
        clock.advance(3)
        waited.resting(call, "HTTP 429: slow down", 20.0)
        wait = waited.longest(2.0)
        assert wait is not None
        assert (wait.failures, wait.words, wait.retry_seconds) == (0, "HTTP 429: slow down", 20.0)

    def test_the_oldest_of_several_is_named(self) -> None:
        clock = FakeClock()
        waited = WaitTimer(clock.now)
        first = waited.begin("lab", "planner")
        clock.advance(3)
        waited.begin("lab", "grounder")
        clock.advance(3)
        assert [wait.model for wait in (waited.longest(2.0),) if wait] == ["planner"]
        waited.end(first, 0.0)
        assert [wait.model for wait in (waited.longest(2.0),) if wait] == ["grounder"]
