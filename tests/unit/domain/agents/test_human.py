from collections.abc import Mapping
from typing import Any

import pytest

from backend.domain.agents.human import AT_ONCE, Human, HumanParams
from backend.domain.errors import AgentFailed, ClusterLost
from backend.domain.model.episode import EndedBy
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import ActionType, Frame, Observation
from backend.domain.ports.agent import AgentContext
from tests.error_codes import raises_code
from tests.fakes.agent_channel import FakeLine

CLICK = {"type": "CLICK", "x": 5, "y": 6, "clicks": 2}
SEEN = Observation(index=3, frame=Frame(data=b"picture", media_type="image/png", width=640, height=480))


def begun(line: FakeLine | None, seconds: float = 60.0, **params: bool) -> Human:
    agent = Human(HumanParams(**params))
    context = AgentContext(
        instruction="do it",
        screen=ScreenSize(width=640, height=480),
        max_steps=9,
        seed=1,
        line=line,
        max_seconds=seconds,
    )
    agent.reset(context)
    return agent


class TestAct:
    def test_each_message_is_one_step(self) -> None:
        agent = begun(FakeLine({"actions": [CLICK]}, {"actions": [{"type": "DONE"}]}))
        first = agent.act(SEEN)
        assert (first.actions[0].type, first.actions[0].clicks, first.by) == (ActionType.CLICK, 2, "agent")
        assert agent.act(SEEN).actions[0].type is ActionType.DONE

    def test_the_picture_does_not_travel_twice(self) -> None:
        line = FakeLine({"actions": [CLICK]})
        begun(line).act(SEEN)
        shown, told = line.shown[0]
        assert (shown.index, shown.frame, told) == (3, None, {"max_steps": 9})

    def test_invalid_action_is_reported_and_not_executed(self) -> None:
        decision = begun(FakeLine({"actions": [{"type": "PYTHON", "text": "1"}]})).act(SEEN)
        assert decision.actions == ()
        assert "nothing that a person may do" in decision.invalid

    def test_absent_person_runs_out_of_time(self) -> None:
        assert begun(FakeLine(), seconds=0.02).act(SEEN).stop is EndedBy.TIME

    def test_a_closed_line_ends_the_wait(self) -> None:
        line = FakeLine()
        line.close()
        with pytest.raises(ClusterLost):
            begun(line).act(SEEN)


class LateLine(FakeLine):
    """Delivers each answer while the agent waits for it, never before."""

    def take(self, seconds: float) -> Mapping[str, Any] | None:
        return super().take(seconds) if seconds > AT_ONCE else None


class TestLookAgain:
    def test_input_that_arrived_while_idle_is_executed_after_a_fresh_look(self) -> None:
        agent = begun(LateLine({"actions": [CLICK]}), look_again=True)
        looked = agent.act(SEEN)
        assert (looked.actions, looked.invalid, looked.stop) == ((), "", None)
        assert agent.act(SEEN).actions[0].type is ActionType.CLICK

    def test_queued_input_is_executed_at_once(self) -> None:
        agent = begun(FakeLine({"actions": [CLICK]}), look_again=True)
        assert agent.act(SEEN).actions[0].type is ActionType.CLICK


class TestReset:
    def test_missing_channel_fails(self) -> None:
        with raises_code(AgentFailed, "no_agent_channel"):
            begun(None)
