"""`planned`: a planner in words, a grounder in points, and what each half cost and failed at."""

import json
from typing import Any

import pytest

from backend.domain.errors import AgentFailed, Invalid
from backend.domain.model.model_calls import CallFailure
from backend.domain.model.trajectory import Decision, Observation, ScreenView, Usage
from backend.domain.ports.agent import AgentContext
from backend.domain.ports.model import ModelReply, StopReason
from backend.services.capacity.config_checks import checked_params
from tests.error_codes import raises_code
from tests.fakes.models import COST, FakeModels
from tests.unit.domain.agents.cases import SCREEN, begun, pictures, seen, texts

NO_COST = Usage()


def plan(*actions: dict[str, object]) -> str:
    return "I see it.\n" + "\n".join(f"```json\n{json.dumps(action)}\n```" for action in actions)


CLICK = plan({"action_type": "CLICK", "element": "the button Save"})


def acted(*answers: ModelReply | str, observation: Observation | None = None, **params: Any) -> Decision:
    """The decision on one observation; the planner's answer comes first."""
    agent = begun("planned", FakeModels(*answers), grounder_model="g", **params)
    decision: Decision = agent.act(observation or seen())
    return decision


def failures(decision: Decision) -> list[tuple[str, str | None]]:
    return [(call.part, call.failure) for call in decision.model_calls]


class TestGrounding:
    @pytest.mark.parametrize(
        ("grounder_format", "answer"),
        [
            ("uground", "(500, 250)"),
            ("os_atlas", "<|object_ref_start|>Save<|object_ref_end|><|box_start|>(490,240),(510,260)<|box_end|>"),
            ("showui", "[0.5, 0.25]"),
            ("ui_tars", "Thought: x\nAction: click(start_box='<|box_start|>(500,250)<|box_end|>')"),
            ("ui_tars_1_5", "Action: click(start_box='(322,119)')"),
            ("aguvis", "pyautogui.click(x=0.5, y=0.25)"),
            (
                "qwen3_vl",
                '<tool_call>{"name": "computer_use", "arguments": {"action": "click", "coordinate": "[500,250]"}}',
            ),
        ],
    )
    def test_an_element_becomes_a_point_in_every_format(self, grounder_format: str, answer: str) -> None:
        decision = acted(CLICK, answer, grounder_format=grounder_format)
        assert [(one.type, one.x, one.y) for one in decision.actions] == [("CLICK", 320, 120)]
        assert failures(decision) == [("planner", None), ("grounder", None)]

    def test_each_element_is_asked_for_once_with_the_picture_and_nothing_of_the_plan(self) -> None:
        words = plan(
            {"action_type": "MOVE_TO", "element": "the icon"},
            {"action_type": "DRAG_TO", "parameters": {"element": "the bin"}},
            {"action_type": "CLICK", "element": "the icon"},
            {"action_type": "TYPING", "text": "x"},
        )
        models = FakeModels(words, "(100, 100)", "(900, 900)")
        decision = begun("planned", models, grounder_model="g", grounder_endpoint="local").act(seen())
        assert [one.type for one in decision.actions] == ["MOVE_TO", "DRAG_TO", "CLICK", "TYPING"]
        assert models.endpoints == ["openai", "local"]
        assert [request.model for request in models.asked] == ["m", "g", "g"]
        assert [len(pictures(request)) for request in models.asked] == [1, 1, 1]
        assert "the bin" in texts(models.asked[2])
        assert "Save the file." not in texts(models.asked[2])

    def test_the_cost_is_recorded_by_half_and_summed(self) -> None:
        decision = acted(CLICK, "(500, 250)")
        assert [call.usage for call in decision.model_calls] == [COST, COST]
        assert decision.usage == COST + COST
        assert decision.model_calls[1].query == "the button Save"
        assert decision.model_calls[1].reply == "(500, 250)"

    def test_a_point_in_a_padded_picture_is_mapped(self) -> None:
        view = ScreenView(width=640, height=640, top=80, right=640, bottom=560, screen_width=640, screen_height=480)
        decision = acted(CLICK, "(500, 500)", observation=seen(view=view))
        assert [(one.x, one.y) for one in decision.actions] == [(320, 240)]

    def test_final_action_does_not_call_the_grounder(self) -> None:
        decision = acted("DONE")
        assert [one.type for one in decision.actions] == ["DONE"]
        assert failures(decision) == [("planner", None)]


class TestFailures:
    @pytest.mark.parametrize(
        ("answer", "failure"),
        [
            ("I do not see it.", CallFailure.NO_POINT),
            ("", CallFailure.NO_POINT),
            ("DONE", CallFailure.NO_POINT),
            ("(1500, 250)", CallFailure.OFF_SCREEN),
            ("(-3, 250)", CallFailure.OFF_SCREEN),
            (ModelReply(text="(500, 250)", stop=StopReason.LENGTH), CallFailure.INCOMPLETE),
            (ModelReply(text="", stop=StopReason.REFUSAL), CallFailure.INCOMPLETE),
        ],
    )
    def test_failure_of_the_grounder_is_recorded(self, answer: ModelReply | str, failure: CallFailure) -> None:
        decision = acted(CLICK, answer)
        assert decision.invalid
        assert decision.actions == ()
        assert failures(decision) == [("planner", None), ("grounder", failure)]

    def test_a_point_in_the_padding_is_off_the_screen(self) -> None:
        view = ScreenView(width=640, height=640, top=80, right=640, bottom=560, screen_width=640, screen_height=480)
        decision = acted(CLICK, "(500, 50)", observation=seen(view=view))
        assert failures(decision)[1] == ("grounder", CallFailure.OFF_SCREEN)

    @pytest.mark.parametrize(
        "words",
        [
            "I would click on Save.",
            plan({"action_type": "CLICK", "x": 5, "y": 6}),
            plan({"action_type": "CLICK", "element": "  "}),
            plan({"action_type": "CLICK", "element": 7}),
            plan({"action_type": "DRAG_TO"}),
            plan({"action_type": "CLICK", "element": "the icon"}, {"action_type": "FLY"}),
            plan({"action_type": "PRESS", "key": "hyperspace"}),
        ],
    )
    def test_the_planners_costs_no_call_of_the_grounder(self, words: str) -> None:
        decision = acted(words)
        assert decision.invalid
        assert failures(decision) == [("planner", CallFailure.UNCLEAR)]

    def test_a_planners_reply_that_was_cut_off_is_not_read(self) -> None:
        decision = acted(ModelReply(text=CLICK, stop=StopReason.LENGTH))
        assert failures(decision) == [("planner", CallFailure.INCOMPLETE)]

    def test_planner_learns_which_element_was_not_found(self) -> None:
        models = FakeModels(CLICK, "Nowhere.", "DONE")
        agent = begun("planned", models, grounder_model="g")
        first = agent.act(seen())
        agent.act(seen(1, note=first.invalid))
        assert "the button Save" in first.invalid
        assert first.invalid in texts(models.asked[2])


class TestSettings:
    def test_both_models_are_needed(self) -> None:
        with raises_code(Invalid, "model_missing", path="params.grounder_model"):
            checked_params("planned", {"model": "m"})
        with raises_code(AgentFailed, "no_model"):
            begun("planned", FakeModels())

    def test_secrets_are_refused_in_both(self) -> None:
        with raises_code(Invalid, "invalid_parameter"):
            checked_params("planned", {"model": "m", "grounder_model": "g", "grounder_extra": {"api_key": "k"}})

    def test_an_action_space_with_coordinates_is_refused(self) -> None:
        agent = begun("planned", FakeModels(), grounder_model="g")
        context = AgentContext(
            instruction="x", screen=SCREEN, max_steps=1, seed=1, action_space="computer_13", models=FakeModels()
        )
        with raises_code(AgentFailed, "action_space_not_usable"):
            agent.reset(context)
