from uuid import uuid4

import pytest

from backend.domain.scheduling.duration_estimate import (
    OVERHEAD,
    STEP_SECONDS,
    DurationHistory,
    TaskFacts,
    expected_seconds,
)

TASK = TaskFacts(uuid4(), "files", "hard", 20)
KEY = ("files", "hard")


class TestExpected:
    @pytest.mark.parametrize(
        ("history", "seconds"),
        [
            (DurationHistory(own={TASK.id: 70.0}, others={TASK.id: 1.0}, alike={KEY: 2.0}, step=3.0), 70.0),
            (DurationHistory(others={TASK.id: 50.0}, alike={KEY: 2.0}, step=3.0), 50.0),
            (DurationHistory(alike={KEY: 90.0}, step=3.0), 90.0),
            (DurationHistory(step=3.0), OVERHEAD + 60.0),
            (DurationHistory(), OVERHEAD + 20 * STEP_SECONDS),
            (DurationHistory(own={TASK.id: 0.0}), 1.0),
        ],
    )
    def test_uses_the_most_specific_measurement(self, history: DurationHistory, seconds: float) -> None:
        assert expected_seconds(TASK, history) == seconds

    @pytest.mark.parametrize(
        ("difficulty", "seconds"),
        [("easy", 30 + 100), ("medium", 30 + 150), ("hard", 30 + 200), (None, 30 + 150), ("unknown", 30 + 150)],
    )
    def test_the_easier_the_fewer_of_its_steps_are_used(self, difficulty: str | None, seconds: float) -> None:
        assert expected_seconds(TaskFacts(TASK.id, "files", difficulty, 20), DurationHistory()) == seconds

    def test_a_step_takes_some_time(self) -> None:
        assert expected_seconds(TASK, DurationHistory(step=0.0)) == pytest.approx(30 + 2)

    def test_easy_task_is_estimated_below_its_budget(self) -> None:
        easy = TaskFacts(TASK.id, "files", "easy", 20)
        assert expected_seconds(easy, DurationHistory()) < expected_seconds(TASK, DurationHistory())
