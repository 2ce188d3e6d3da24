"""Waits of a running attempt, in words."""

from datetime import UTC, datetime

import pytest

from backend.db.models import Attempt
from backend.db.models.enums import AttemptController
from backend.domain.model.episode import AttemptState
from backend.services.runs.views.waiting import wait_of

STEP = datetime(2026, 11, 26, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("state", "controller", "agent", "kind", "since"),
    [
        (AttemptState.EVALUATING, AttemptController.AGENT, "prompt", "evaluator", STEP),
        (AttemptState.RUNNING, AttemptController.AGENT, "remote", "program", STEP),
        (AttemptState.RUNNING, AttemptController.AGENT, "container", "program", STEP),
        (AttemptState.RUNNING, AttemptController.PERSON, "human", "person", STEP),
        (AttemptState.RUNNING, AttemptController.PERSON, "prompt", "person", None),
        (AttemptState.RUNNING, AttemptController.AGENT, "prompt", "", None),
    ],
)
def test_the_awaited_party_and_since_when(
    state: AttemptState, controller: AttemptController, agent: str, kind: str, since: datetime | None
) -> None:
    wait = wait_of(Attempt(state=state, controller=controller), None, STEP, agent)
    assert (wait.kind if wait else "", wait.since if wait else None) == (kind, since)
