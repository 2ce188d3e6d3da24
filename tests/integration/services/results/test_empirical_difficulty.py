"""Difficulty by how often agents solve a task."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from backend.db.models import Task
from backend.domain.errors import Conflict
from backend.domain.model.task import Difficulty
from backend.services.results.empirical_difficulty import label_by_solve_rate, terciles
from tests.error_codes import raises_code
from tests.factories.records import World
from tests.integration.services.results.test_leaderboards import play


@pytest.fixture
def measured(ready: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """An installation where the floors but one count, so that built-in agents are measured here."""
    monkeypatch.setattr("backend.db.repositories.results.solve_rates.FLOORS", frozenset({"noop"}))
    return ready


def difficulties(installation: World) -> list[tuple[str | None, str | None, str]]:
    with installation.work() as session:
        tasks = session.scalars(select(Task).order_by(Task.id))
        label = "empirical_difficulty"
        return [(task.difficulty, task.difficulty_source, "".join(task.labels.get(label, []))) for task in tasks]


class TestTerciles:
    def test_the_third_that_is_solved_least_often_is_hard(self) -> None:
        found = terciles({"a": 0.9, "b": 0.1, "c": 0.5, "d": 0.2, "e": 0.6, "f": 1.0})
        assert found == {
            "a": Difficulty.EASY,
            "b": Difficulty.HARD,
            "c": Difficulty.MEDIUM,
            "d": Difficulty.HARD,
            "e": Difficulty.MEDIUM,
            "f": Difficulty.EASY,
        }

    def test_equal_rates_have_equal_difficulties(self) -> None:
        assert terciles(dict.fromkeys("abcd", 0.5)) == dict.fromkeys("abcd", Difficulty.MEDIUM)
        assert list(terciles({"a": 0.0, "b": 0.0, "c": 0.0, "d": 1.0}).values()) == [Difficulty.MEDIUM] * 3 + [
            Difficulty.EASY
        ]

    def test_no_tasks_have_no_terciles(self) -> None:
        assert terciles({}) == {}


class TestLabel:
    def test_rates_are_means_over_configurations(self, measured: World) -> None:
        # The second task is solved by one of two configurations, although in three of four episodes.
        play(measured, [1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.5], "random", repeats=3)
        play(measured, [1.0, 0.0, 0.0], "always_fail")
        play(measured, [1.0, 1.0, 1.0], "noop")
        play(measured, [0.0, 0.0, 1.0], "oracle")
        before = difficulties(measured)
        days = {datetime.now(UTC).date().isoformat()}
        rows, _ = measured.do(label_by_solve_rate, "starter")
        days.add(datetime.now(UTC).date().isoformat())
        assert rows == 3
        after = difficulties(measured)
        assert [each[2] for each in after] == ["easy", "medium", "hard"]
        for (difficulty, source, _), (new, new_source, empirical) in zip(before, after, strict=True):
            kept = source not in {None, "empirical"}
            assert (new, new_source) == ((difficulty, source) if kept else (empirical, "empirical"))
        with measured.work() as session:
            task = session.scalars(select(Task)).first()
            assert task is not None
            (day,) = task.labels["empirical_difficulty_on"]
            assert day in days

    def test_without_a_measured_agent(self, ready: World) -> None:
        play(ready, [1.0, 1.0, 1.0], "noop")
        with raises_code(Conflict, "no_measured_result"):
            ready.do(label_by_solve_rate, "starter")
