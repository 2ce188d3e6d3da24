from typing import Any

import pytest

from backend.domain import registry
from backend.domain.agents._outside import MOST_ACTIONS, MOST_WORDS
from backend.domain.agents.remote import Remote, RemoteParams
from backend.domain.errors import AgentFailed
from backend.domain.model.episode import EndedBy
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import ActionType, Decision, Observation
from backend.domain.ports.agent import AgentContext
from tests.error_codes import raises_code
from tests.fakes.agent_channel import FakeLine

registry.load()
SEEN = Observation(index=0)


def asked(line: FakeLine | None, **more: Any) -> Remote:
    agent = Remote(RemoteParams())
    agent.reset(
        AgentContext(
            **{
                "instruction": "Do it.",
                "screen": ScreenSize(width=640, height=480),
                "max_steps": 5,
                "seed": 1,
                "action_space": "computer_13",
                "line": line,
                **more,
            }
        )
    )
    return agent


def decided(message: dict[str, Any], **more: Any) -> Decision:
    return asked(FakeLine({"index": 0, **message}), **more).act(SEEN)


class TestAct:
    def test_sends_observation_and_instruction(self) -> None:
        line = FakeLine({"index": 0, "reply": "DONE"})
        asked(line).act(SEEN)
        ((seen, told),) = line.shown
        assert seen is SEEN
        assert (told["instruction"], told["max_steps"], told["screen"]) == ("Do it.", 5, {"width": 640, "height": 480})

    def test_takes_typed_actions(self) -> None:
        result = decided({"actions": [{"type": "CLICK", "x": 1, "y": 2}], "explanation": "There."})
        assert (result.actions[0].type, result.actions[0].x, result.explanation) == (ActionType.CLICK, 1, "There.")

    def test_reads_a_reply_in_the_runs_action_space(self) -> None:
        assert decided({"reply": '{"action_type": "PRESS", "key": "enter"}'}).actions[0].keys == ("enter",)

    @pytest.mark.parametrize("stop", ["done", "infeasible", "steps"])
    def test_may_only_stop(self, stop: str) -> None:
        result = decided({"stop": stop})
        assert (result.actions, result.stop, result.invalid) == ((), EndedBy(stop), "")

    def test_an_answer_to_another_step_is_left_aside(self) -> None:
        line = FakeLine({"index": 3, "reply": "FAIL"}, {"index": 0, "reply": "DONE"})
        assert asked(line).act(SEEN).actions[0].type is ActionType.DONE

    @pytest.mark.parametrize(
        "message",
        [
            {},
            {"reply": 7},
            {"reply": "nothing that is an action"},
            {"actions": "CLICK"},
            {"actions": [{"type": "EXPLODE"}]},
            {"actions": [{"type": "WAIT"}] * (MOST_ACTIONS + 1)},
            {"actions": [{"type": "PYTHON", "text": "import os"}]},
            {"reply": "DONE", "stop": "agent_error"},
        ],
    )
    def test_invalid_answers_are_reported_back(self, message: dict[str, Any]) -> None:
        result = decided(message)
        assert result.invalid
        assert result.actions == ()

    def test_code_is_for_spaces_that_have_it(self) -> None:
        result = decided({"actions": [{"type": "PYTHON", "text": "x = 1"}]}, action_space="pyautogui")
        assert (result.invalid, result.actions[0].type) == ("", ActionType.PYTHON)

    def test_explanation_is_truncated(self) -> None:
        assert len(decided({"reply": "DONE", "explanation": "x" * 9000}).explanation) == MOST_WORDS

    def test_stops_at_the_time_limit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("backend.domain.agents._outside.LATER_SECONDS", 0.01)
        with pytest.raises(AgentFailed):
            asked(FakeLine(), max_seconds=0.01).act(SEEN)

    def test_needs_a_line(self) -> None:
        with raises_code(AgentFailed, "no_agent_channel"):
            asked(None)
