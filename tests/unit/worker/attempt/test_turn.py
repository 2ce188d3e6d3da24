from collections.abc import Callable
from contextlib import ExitStack

import pytest

from backend.domain import registry
from backend.domain.errors import Cancelled, ClusterLost, DeskarenaError, LeaseLost
from backend.domain.model.task import Task
from tests.factories.attempt import AttemptCase
from tests.factories.claims import note_task
from tests.unit.worker.attempt.test_runner import SOLUTION
from worker.evaluation.concurrency import LOOK_SECONDS


@pytest.fixture(autouse=True, scope="module")
def _plugins() -> None:
    registry.load()


class TestTurn:
    """Others are evaluated, so that the attempt waits in line."""

    def waiting(self, task: Task, then: Callable[[AttemptCase], None]) -> AttemptCase:
        """The attempt, while whose first pause in line something happens. Its turn comes by and by."""
        attempt = AttemptCase(task, "oracle")
        attempt.judge.turns.number = 1
        pause = attempt.hold.pause

        def pausing(seconds: float) -> None:
            pause(seconds)
            if attempt.book.moves[-1:] == ["evaluating"]:
                then(attempt)
                others.close()

        attempt.hold.pause = pausing  # type: ignore[method-assign]
        with ExitStack() as others:
            others.enter_context(attempt.judge.turns.turn(pause))
            attempt.run()
        return attempt

    def test_wait_for_a_turn_is_measured_separately(self) -> None:
        attempt = self.waiting(note_task(oracle=SOLUTION), lambda _: None)
        assert attempt.book.moves == ["running", "evaluating", "scored"]
        assert attempt.score == 1.0
        assert attempt.book.seconds["turn"] >= LOOK_SECONDS * 0.9

    @pytest.mark.parametrize(
        ("error", "moves"),
        [
            (Cancelled("the run was cancelled"), ["running", "evaluating", "cancelled"]),
            (ClusterLost("the worker was stopped"), ["running", "evaluating", "lost"]),
            (LeaseLost("taken over"), ["running", "evaluating"]),
        ],
    )
    def test_stopped_attempt_stops_waiting(self, error: DeskarenaError, moves: list[str]) -> None:
        attempt = self.waiting(note_task(oracle=SOLUTION), lambda attempt: attempt.hold.stop(error))
        assert attempt.book.moves == moves
        assert attempt.book.evaluation is None
