"""Attempts of an agent that is elsewhere; the others are in test_runner.py."""

import dataclasses
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from backend.domain import registry
from backend.domain.model.episode import EndedBy
from backend.domain.model.run import Budget
from tests.factories.attempt import AttemptCase
from tests.factories.claims import note_task
from tests.fakes.agent_channel import FakeLine
from tests.waiting import until


@pytest.fixture(autouse=True, scope="module")
def _plugins() -> None:
    registry.load()


class TestFromOutside:
    """A program elsewhere, which does not answer."""

    def attempt(self, line: FakeLine) -> AttemptCase:
        attempt = AttemptCase(note_task(), "remote")
        config = attempt.claim.config.model_copy(update={"budget": Budget(max_seconds=1)})
        attempt.claim, attempt.line = dataclasses.replace(attempt.claim, config=config), line
        return attempt

    def test_timeout_is_evaluated(self) -> None:
        attempt = self.attempt(FakeLine())
        attempt.run()
        assert (attempt.book.ended_by, attempt.score) == (EndedBy.TIME, 0.0)

    def test_timeout_after_an_api_outage_is_lost(self) -> None:
        line = FakeLine()
        line.why = "the API was away"
        attempt = self.attempt(line)
        attempt.run()
        assert attempt.book.moves[-1] == "lost"
        assert attempt.book.message == "the API was away"

    def test_outage_does_not_count_against_the_time_limit(self) -> None:
        class OutageLine(FakeLine):
            """Its first wait for an answer is an outage, as the clocks of a test have it: a long one."""

            def take(self, seconds: float) -> Any:
                self.held = 100.0
                return super().take(seconds)

        attempt = self.attempt(line := OutageLine())
        with ThreadPoolExecutor(1) as other:
            running = other.submit(attempt.run)
            line.wait_shown(1)
            until(lambda: line.held)
            begun = time.monotonic()
            until(lambda: time.monotonic() - begun > 2.0, what="the agent's own second is over")
            line.say({"index": 0, "stop": "done"})
            running.result(30.0)
        assert attempt.book.ended_by is EndedBy.DONE
