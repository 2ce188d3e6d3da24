import logging
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count, pairwise
from threading import Event, current_thread
from typing import Any

import pytest

from backend.domain.errors import Unavailable
from backend.services.periodic_thread import MOST_REASONS, PeriodicThread
from tests.waiting import until

NEVER = 3600.0


class Turns:
    """The work of a round: fails as scripted, and records its start times."""

    def __init__(self) -> None:
        self.at: list[float] = []
        self.threads: set[str] = set()
        self.error: Exception | None = None

    def __call__(self) -> None:
        self.threads.add(current_thread().name)
        self.at.append(time.monotonic())
        if self.error is not None:
            raise self.error

    def more(self, number: int = 1) -> None:
        """Waits until this many further rounds have started."""
        least = len(self.at) + number
        until(lambda: len(self.at) >= least)


@pytest.fixture
def turns() -> Turns:
    return Turns()


Make = Callable[..., PeriodicThread]


@pytest.fixture
def make(turns: Turns) -> Iterator[Make]:
    """Makes rounds that end with the test."""
    made: list[PeriodicThread] = []

    def one(*, every: float = 0.01, away: str = "nothing is done", **more: Any) -> PeriodicThread:
        made.append(PeriodicThread("rounds", turns, every=every, broken="a turn broke", away=away, **more))
        return made[-1]

    yield one
    for each in made:
        each.stop(10.0)


def told(caplog: pytest.LogCaptureFixture, level: int) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.levelno == level]


class TestRounds:
    def test_runs_at_once_and_then_periodically_in_one_named_thread(self, make: Make, turns: Turns) -> None:
        make(every=0.05).start()
        turns.more(4)
        assert min(after - before for before, after in pairwise(turns.at)) >= 0.04
        assert turns.threads == {"rounds"}

    def test_wake_runs_immediately(self, make: Make, turns: Turns) -> None:
        rounds = make(every=NEVER)
        rounds.start()
        until(lambda: turns.at)
        rounds.wake()
        until(lambda: len(turns.at) == 2)

    def test_others_may_wake_it_by_their_own_event(self, make: Make, turns: Turns) -> None:
        woken = Event()
        make(every=NEVER, woken=woken).start()
        until(lambda: turns.at)
        woken.set()
        until(lambda: len(turns.at) == 2)
        until(lambda: not woken.is_set())


class TestErrors:
    def test_a_reason_is_reported_once_until_a_round_works_again(
        self, make: Make, turns: Turns, caplog: pytest.LogCaptureFixture
    ) -> None:
        turns.error = Unavailable("the database is away")
        make().start()
        turns.more(3)
        assert told(caplog, logging.WARNING) == ["nothing is done: the database is away"]
        turns.error = Unavailable("it is starting up")
        turns.more(3)
        turns.error = Unavailable("the database is away")
        turns.more(3)
        assert told(caplog, logging.WARNING)[1:] == ["nothing is done: it is starting up"]
        turns.error = None
        turns.more(2)
        turns.error = Unavailable("the database is away")
        turns.more(3)
        assert told(caplog, logging.WARNING)[2:] == ["nothing is done: the database is away"]
        assert told(caplog, logging.ERROR) == []

    def test_expected_outage_is_not_logged(self, make: Make, turns: Turns, caplog: pytest.LogCaptureFixture) -> None:
        turns.error = Unavailable("the database is away")
        make(away="").start()
        turns.more(3)
        assert caplog.records == []

    def test_reasons_that_differ_each_time_do_not_fill_the_log(
        self, make: Make, turns: Turns, caplog: pytest.LogCaptureFixture
    ) -> None:
        number = count()

        class Differing(Unavailable):
            def __str__(self) -> str:
                return f"number {next(number)}"

        turns.error = Differing("")
        make(every=0.001).start()
        turns.more(MOST_REASONS * 2)
        assert len(told(caplog, logging.WARNING)) == MOST_REASONS

    def test_other_errors_are_logged_and_do_not_stop_it(
        self, make: Make, turns: Turns, caplog: pytest.LogCaptureFixture
    ) -> None:
        turns.error = ZeroDivisionError("by nothing")
        make().start()
        turns.more(3)
        assert told(caplog, logging.ERROR)[:2] == ["a turn broke", "a turn broke"]
        assert caplog.records[0].exc_info is not None
        assert caplog.records[0].exc_info[1] is turns.error


class TestStop:
    def test_a_thread_that_waits_ends_at_once(self, make: Make, turns: Turns) -> None:
        rounds = make(every=NEVER)
        rounds.start()
        until(lambda: turns.at)
        rounds.stop(10.0)
        assert not alive("rounds")
        assert len(turns.at) == 1

    def test_stopping_waits_for_the_current_call_within_a_bound(self) -> None:
        begun, go_on, ended = Event(), Event(), Event()

        def turn() -> None:
            begun.set()
            go_on.wait(10.0)
            ended.set()

        rounds = PeriodicThread("slow", turn, every=0.01, broken="a turn broke")
        rounds.start()
        assert begun.wait(60.0)
        rounds.stop(0.01)
        assert not ended.is_set()
        assert alive("slow")
        go_on.set()
        rounds.stop(10.0)
        assert ended.is_set()
        assert not alive("slow")

    def test_stop_before_start_runs_nothing(self, make: Make, turns: Turns) -> None:
        rounds = make()
        rounds.stop()
        rounds.start()
        until(lambda: not alive("rounds"))
        assert turns.at == []


def alive(name: str) -> bool:
    """Whether there is a thread of that name."""
    return name in {each.name for each in threading.enumerate()}


class TestPauses:
    def test_a_round_that_found_nobody_is_repeated_sooner(self, make: Make, turns: Turns) -> None:
        turns.error = Unavailable("nobody is there")
        make(every=3600.0, retry=0.01).start()
        turns.more(3)

    def test_a_delayed_one_does_nothing_at_first(self, make: Make, turns: Turns) -> None:
        thread = make(every=3600.0, delayed=True)
        thread.start()
        thread.stop(10.0)
        assert turns.at == []
