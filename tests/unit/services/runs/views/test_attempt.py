"""Views of an attempt and its steps."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from backend.services.runs.views.attempt import AttemptView, StepView

BEGIN = datetime(2026, 11, 21, 22, 0, tzinfo=UTC)


def step(*results: dict[str, Any]) -> StepView:
    return StepView(id=UUID(int=1), attempt_id=UUID(int=2), index=0, results=list(results), created_at=BEGIN)


def attempt(**more: Any) -> AttemptView:
    values = {"id": UUID(int=2), "episode_id": UUID(int=3), "number": 1, "state": "lost", "controller": "agent"}
    return AttemptView.model_validate({**values, "started_at": BEGIN, **more})


class TestFinal:
    def test_is_the_state_that_the_agent_left(self) -> None:
        assert step({"final": True}).final
        assert not step({"ok": True}).final


class TestAnswers:
    def test_leave_out_what_says_nothing(self) -> None:
        assert step({}, {"final": True}, {"value": None}, {"value": ""}, {"value": 0}).answers == [{"value": 0}]


class TestUnreported:
    @pytest.mark.parametrize(("failure", "seconds"), [("cluster", 28.5), ("guest", 0.0), (None, 0.0)])
    def test_only_a_loss_to_the_cluster_has_time_that_no_phase_has(self, failure: str | None, seconds: float) -> None:
        lost = attempt(failure_class=failure, seconds={"reset": 1.5}, ended_at=BEGIN + timedelta(seconds=30))
        assert lost.unreported == seconds

    def test_running_attempt_has_no_unreported_time(self) -> None:
        assert attempt(failure_class="cluster").unreported == 0.0


class TestToFirstObservation:
    def test_seconds_from_its_beginning(self) -> None:
        assert attempt(first_observation_at=BEGIN + timedelta(seconds=4)).to_first_observation == 4.0
        assert attempt().to_first_observation is None
