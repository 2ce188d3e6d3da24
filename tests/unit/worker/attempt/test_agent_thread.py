import sys
import time
from collections.abc import Iterator
from threading import Event, current_thread

import pytest

from backend.domain.errors import AgentFailed, LeaseLost
from backend.domain.loop.agent_loop import AgentTimeout
from tests.error_codes import raises_code
from worker.attempt.agent_thread import AgentThread


def fine() -> None:
    """The attempt may go on."""


@pytest.fixture
def thread() -> Iterator[AgentThread]:
    made = AgentThread(fine)
    yield made
    made.close()


@pytest.fixture
def never() -> Iterator[Event]:
    """Waited for by agents that hang; set at the end, so that their threads end."""
    event = Event()
    yield event
    event.set()


class TestCall:
    def test_returns_the_result(self, thread: AgentThread) -> None:
        assert thread(lambda: 42, 5.0) == 42

    def test_reraises_the_agents_exception(self, thread: AgentThread) -> None:
        with pytest.raises(ZeroDivisionError):
            thread(lambda: 1 / 0, 5.0)

    def test_accepts_calls_after_an_error(self, thread: AgentThread) -> None:
        with pytest.raises(ZeroDivisionError):
            thread(lambda: 1 / 0, 5.0)
        assert thread(lambda: 1, 5.0) == 1

    def test_all_calls_run_in_one_thread(self, thread: AgentThread) -> None:
        assert len({thread(current_thread, 5.0) for _ in range(3)}) == 1

    def test_sys_exit_fails_only_the_agent(self, thread: AgentThread) -> None:
        with raises_code(AgentFailed, "agent_raised", mentions="SystemExit"):
            thread(lambda: sys.exit(1), 5.0)

    def test_hanging_agent_times_out(self, thread: AgentThread, never: Event) -> None:
        with pytest.raises(AgentTimeout):
            thread(never.wait, 0.3)

    def test_calls_after_a_timeout_fail_immediately(self, thread: AgentThread, never: Event) -> None:
        with pytest.raises(AgentTimeout):
            thread(never.wait, 0.1)
        before = time.monotonic()
        with pytest.raises(AgentTimeout):
            thread(fine, 60.0)
        assert time.monotonic() - before < 30.0

    def test_attempt_can_be_stopped_during_a_call(self, never: Event) -> None:
        def stop() -> None:
            raise LeaseLost("taken over")

        thread = AgentThread(stop)
        with pytest.raises(LeaseLost):
            thread(never.wait, 60.0)
        thread.close()
