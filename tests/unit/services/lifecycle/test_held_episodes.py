"""Episodes that wait for a person or for an external program, without a database."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from sqlalchemy.orm import Session

from backend.db.models import Attempt, Episode, Run
from backend.db.models.enums import Purpose
from backend.domain.model.reason import Reason, ReasonCode
from backend.domain.model.run import Budget, RunConfig, Settle
from backend.services.lifecycle import human_runs, remote_runs
from backend.services.lifecycle.human_runs import LATER

NOW = datetime(2026, 11, 26, tzinfo=UTC)


class TestIsHeld:
    @pytest.mark.parametrize(
        ("agent", "state", "available_at", "waits_for_program"),
        [
            ("remote", "waiting", LATER, True),
            ("remote", "waiting", NOW, False),
            ("remote", "running", LATER, False),
            ("noop", "waiting", LATER, False),
        ],
    )
    def test_waits_for_its_program(
        self, agent: str, state: str, available_at: datetime, *, waits_for_program: bool
    ) -> None:
        episode = Episode(state=state, available_at=available_at)
        assert remote_runs.waits_for_program(Run(config={"agent": agent}), episode) is waits_for_program

    def test_reason_names_the_lost_attempt(self) -> None:
        assert remote_runs.waiting_columns("attempt 1 was lost")["reason"].startswith("attempt 1 was lost; it waits")
        assert remote_runs.waiting_columns()["reason_code"] == ReasonCode.PROGRAM
        assert remote_runs.waiting_columns()["available_at"] == LATER


class TestIsLost:
    @pytest.mark.parametrize(
        ("state", "available_at", "code", "is_lost"),
        [
            ("waiting", LATER, ReasonCode.PERSON_AGAIN, True),
            ("waiting", LATER, ReasonCode.PERSON, False),
            ("waiting", NOW, ReasonCode.PERSON_AGAIN, False),
            ("running", LATER, ReasonCode.PERSON_AGAIN, False),
        ],
    )
    def test_a_person_may_restart_what_was_lost(
        self, state: str, available_at: datetime, code: ReasonCode, *, is_lost: bool
    ) -> None:
        assert human_runs.is_lost(Episode(state=state, available_at=available_at, reason_code=code)) is is_lost

    def test_waits_for_its_person_unless_there_is_another_reason(self) -> None:
        other = Reason(ReasonCode.PERSON_AGAIN, "its desktop was lost")
        assert human_runs.waiting_columns()["reason_code"] == ReasonCode.PERSON
        assert human_runs.waiting_columns(other)["reason_code"] == ReasonCode.PERSON_AGAIN


class TestNote:
    @pytest.mark.parametrize(
        ("purpose", "feedback"),
        [(Purpose.PRACTICE, {}), (Purpose.MEASURE, {}), (Purpose.MEASURE, {"second_try_of": str(uuid4())})],
    )
    def test_reads_and_writes_nothing_but_for_second_tries(self, purpose: Purpose, feedback: dict[str, str]) -> None:
        """A session without a database refuses to read."""
        episode = Episode(human_feedback=feedback)
        human_runs.note(Session(), Run(purpose=purpose), episode, Attempt(current_step=3, seconds={}))
        assert episode.human_feedback == feedback


class TestSettled:
    def test_a_person_has_time_and_decides_when_the_screen_is_still(self) -> None:
        config = human_runs.with_human_defaults(RunConfig(agent="human"))
        assert (config.budget.max_steps, config.settle) == (300, Settle(quiet=0.05, timeout=0.3))

    def test_configured_values_stay(self) -> None:
        config = RunConfig(agent="human", budget=Budget(max_steps=9), settle=Settle(quiet=1, timeout=3))
        assert human_runs.with_human_defaults(config) == config


def test_the_order_of_tasks_follows_the_seed() -> None:
    tasks = list(range(20))
    assert (
        human_runs.shuffle_tasks(tasks, 1) == human_runs.shuffle_tasks(tasks, 1) != human_runs.shuffle_tasks(tasks, 2)
    )
    assert sorted(human_runs.shuffle_tasks(tasks, 1)) == tasks


def test_a_person_s_time_is_from_the_first_picture_to_the_last_action() -> None:
    assert human_runs.seconds_of({"agent": 1.0, "action": 2.0, "settle": 4.0, "reset": 8.0, "record": None}) == 7.0
    assert human_runs.seconds_of({"agent": None}) == 0.0
