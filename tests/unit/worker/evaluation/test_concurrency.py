from contextlib import ExitStack
from threading import Event, Thread

import pytest

from backend.domain.errors import Cancelled
from backend.domain.model.units import GIB
from tests.waiting import until
from worker.evaluation.concurrency import FairSemaphore, max_parallel


class TestAtOnce:
    @pytest.mark.parametrize(
        ("memory", "number"), [(GIB, 1), (6 * GIB, 1), (8 * GIB, 1), (11 * GIB - 1, 1), (11 * GIB, 2), (24 * GIB, 4)]
    )
    def test_limit_is_free_memory_divided_but_at_least_one(self, memory: int, number: int) -> None:
        assert max_parallel(memory, 5 * GIB) == number


class Waiting:
    """A thread that takes a turn and keeps it until it is released."""

    def __init__(self, turns: FairSemaphore, name: str, had: list[str]) -> None:
        self._turns, self._name, self._had = turns, name, had
        self.asked = Event()
        self.go = Event()
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()
        until(self.asked.is_set, what=f"{name} stands in line")

    def _run(self) -> None:
        with self._turns.turn(self._pause):
            self._had.append(self._name)
            self.asked.set()
            self.go.wait(30.0)

    def _pause(self, _seconds: float) -> None:
        self.asked.set()
        Event().wait(0.005)

    def end(self) -> None:
        self.go.set()
        self._thread.join(30.0)


def never(_seconds: float) -> None:
    raise AssertionError("there is nothing to wait for")


class TestTurns:
    def test_turns_up_to_the_limit_do_not_wait(self) -> None:
        turns = FairSemaphore(2)
        with turns.turn(never), turns.turn(never):
            pass
        with turns.turn(never):
            pass

    def test_turns_are_first_come_first_served(self) -> None:
        turns, had = FairSemaphore(2), list[str]()
        waiting = [Waiting(turns, name, had) for name in "abcde"]
        assert had == ["a", "b"]
        for at, each in enumerate(waiting):
            each.end()
            expected = list("abcde"[: at + 3])
            until(lambda expected=expected: had == expected, what="the next has its turn")  # type: ignore[misc]

    def test_stopping_leaves_the_queue(self) -> None:
        turns = FairSemaphore(1)

        def stop(_seconds: float) -> None:
            raise Cancelled("the run was cancelled")

        with ExitStack() as held:
            held.enter_context(turns.turn(never))
            with pytest.raises(Cancelled), turns.turn(stop):
                pass
        with turns.turn(never):
            pass

    @pytest.mark.parametrize("error", [Cancelled("x"), ValueError("x")])
    def test_turn_is_released_on_error(self, error: Exception) -> None:
        turns = FairSemaphore(1)
        with pytest.raises(type(error)), turns.turn(never):
            raise error
        with turns.turn(never):
            pass
