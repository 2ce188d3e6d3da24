"""`computer_use`: one conversation, calls and their results, raw parts, what is left out, how it ends."""

from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from backend.domain.model.episode import EndedBy
from backend.domain.model.trajectory import ActionType, Decision, Frame, SafetyCheck, ScreenView
from backend.domain.ports.model import Message, MessagePart, ModelReply, StopReason, ToolCall
from backend.domain.screen.pictures import decode
from tests.fakes.models import COST, FakeModels
from tests.unit.domain.agents.cases import begun, pictures, roles, seen, texts


def calls(*given: dict[str, Any], text: str = "", raw: Any = ()) -> ModelReply:
    made = tuple(ToolCall(id=f"c{number}", name="computer", arguments=one) for number, one in enumerate(given))
    return ModelReply(text=text, calls=made, raw=raw, stop=StopReason.TOOL, usage=COST, model="m-1")


CLICK = {"action": "left_click", "coordinate": [30, 30]}
TYPE = {"action": "type", "text": "hello"}


HALF = ScreenView(width=320, height=240, right=320, bottom=240, screen_width=640, screen_height=480)


def results(message: Message) -> list[tuple[str, str]]:
    return [part.result for part in message.parts if part.result is not None]


class TestConversation:
    def test_the_vendor_s_tool_is_offered(self) -> None:
        models = FakeModels(calls(CLICK))
        begun("computer_use", models).act(seen())
        (tool,) = models.asked[0].tools
        assert tool.vendor is not None
        assert tool.vendor["type"] == "computer_toolset_20260801"
        assert roles(models.asked[0]) == ["system", "user"]
        assert "Save the file." in texts(models.asked[0])

    def test_all_calls_of_a_reply_are_one_step(self) -> None:
        decision = begun("computer_use", FakeModels(calls(CLICK, TYPE))).act(seen())
        assert [one.type for one in decision.actions] == [ActionType.CLICK, ActionType.TYPING]
        assert '"text": "hello"' in decision.reply
        assert decision.explanation == "calls computer, computer"

    def test_each_call_gets_its_result_and_the_last_the_screen(self) -> None:
        models = FakeModels(calls(CLICK, TYPE), "DONE")
        agent = begun("computer_use", models)
        agent.act(seen())
        agent.act(seen(1))
        last = models.asked[1].messages[-1]
        assert results(last) == [("c0", "done"), ("c1", "done")]
        assert last.parts[-1].image is not None

    def test_the_error_is_the_result_of_the_call(self) -> None:
        models = FakeModels(calls({"action": "fly"}), "DONE")
        agent = begun("computer_use", models)
        assert "fly" in agent.act(seen()).invalid
        agent.act(seen(1, note="Your last answer could not be carried out: fly"))
        assert results(models.asked[1].messages[-1]) == [("c0", "Your last answer could not be carried out: fly")]
        assert models.asked[1].messages[-1].parts[0].failed

    @pytest.mark.parametrize("stop", sorted(set(StopReason) - {StopReason.END, StopReason.TOOL}))
    def test_incomplete_reply_is_not_executed(self, stop: StopReason) -> None:
        agent = begun("computer_use", FakeModels(*[calls(CLICK, text="DONE").model_copy(update={"stop": stop})] * 3))
        for index in range(3):
            decision = agent.act(seen(index))
            assert (decision.actions, bool(decision.invalid)) == ((), True)

    def test_raw_parts_go_back_unchanged(self) -> None:
        raw = ({"api": "anthropic", "content": [{"type": "thinking", "signature": "s"}]},)
        models = FakeModels(calls(CLICK, raw=raw), "DONE")
        agent = begun("computer_use", models)
        agent.act(seen())
        agent.act(seen(1))
        turn = models.asked[1].messages[2]
        assert turn.role == "assistant"
        assert turn.parts[0] == MessagePart(raw=raw[0])
        assert turn.parts[-1].call is not None


class TestResults:
    """Results of calls, beside the next screen."""

    def parts_after(self, reply: ModelReply, **seen_after: Any) -> list[MessagePart]:
        """The parts of the user's turn after that reply."""
        models = FakeModels(reply, "DONE")
        agent = begun("computer_use", models, action_params={"zoom": True})
        agent.act(seen(view=HALF))
        agent.act(seen(1, view=HALF, **seen_after))
        return list(models.asked[1].messages[-1].parts)

    def test_zoom_is_the_region_as_large_as_fits(self) -> None:
        screen = Image.new("RGB", (640, 480), "navy")
        screen.paste("red", (200, 100, 280, 160))
        out = BytesIO()
        screen.save(out, "PNG")
        after = Frame(data=out.getvalue(), media_type="image/png", width=640, height=480)
        zoom, region, picture = self.parts_after(calls({"action": "zoom", "region": [100, 50, 140, 80]}), frame=after)
        assert (zoom.result is not None, zoom.failed) == (True, False)
        assert region.image is not None
        assert (region.image.width, region.image.height) == (320, 240)
        assert decode(region.image).resize((1, 1)).tobytes()[0] > 200
        assert picture.image == after

    @pytest.mark.parametrize("region", [[0, 0, 321, 10], [5, 5, 5, 9]])
    def test_a_region_off_the_picture_is_an_error(self, region: list[int]) -> None:
        (result, _) = self.parts_after(calls({"action": "zoom", "region": region}), note="Your last answer: region")
        assert result.failed

    def test_cursor_position_is_in_the_model_s_scale(self) -> None:
        reply = calls(CLICK, {"action": "cursor_position"})
        click, position, _ = self.parts_after(reply, results=({}, {"returncode": 0, "output": "301 40\n", "error": ""}))
        assert (click.result, position.result) == (("c0", "done"), ("c1", "X=150,Y=20"))

    def test_a_position_that_could_not_be_read_is_an_error(self) -> None:
        reply = calls({"action": "cursor_position"})
        (position, _) = self.parts_after(
            reply, results=({"returncode": 1, "output": "", "error": "ModuleNotFoundError"},)
        )
        assert position.failed

    def test_calls_that_were_not_carried_out_are_errors(self) -> None:
        reply = calls(CLICK, CLICK, TYPE)
        after: tuple[dict[str, str], ...] = ({}, {"error": "off the screen"}, {"skipped": "after an invalid action"})
        results = self.parts_after(reply, results=after, note="Your last answer could not be carried out")[:3]
        assert [part.failed for part in results] == [False, True, True]

    def test_an_unknown_key_is_the_error_of_its_call(self) -> None:
        models = FakeModels(calls({"action": "key", "text": "ctrl+Hyperdrive"}), "DONE")
        agent = begun("computer_use", models)
        decision = agent.act(seen())
        assert (decision.actions, "Hyperdrive" in decision.invalid) == ((), True)
        agent.act(seen(1, note=decision.invalid))
        (result, *_) = models.asked[1].messages[-1].parts
        assert result.failed
        assert "Hyperdrive" in str(result.result)


class TestSafetyChecks:
    CHECK = SafetyCheck(code="malicious_instructions", message="The page gives instructions.")

    def decision(self, reply: ModelReply, **params: Any) -> Decision:
        checked = reply.model_copy(update={"safety_checks": (self.CHECK,)})
        decision: Decision = begun("computer_use", FakeModels(checked), **params).act(seen())
        return decision

    def test_safety_checks_are_acknowledged_and_recorded(self) -> None:
        decision = self.decision(calls(CLICK))
        assert [check.acknowledged for check in decision.safety_checks] == [True]
        assert (len(decision.actions), decision.stop) == (1, None)

    def test_checks_of_an_unexecuted_call_are_not_acknowledged(self) -> None:
        decision = self.decision(calls({"action": "fly"}))
        assert [check.acknowledged for check in decision.safety_checks] == [False]

    @pytest.mark.parametrize("action", [CLICK, {"action": "fly"}])
    def test_end_the_episode_where_the_policy_is_to_stop(self, action: dict[str, Any]) -> None:
        decision = self.decision(calls(action), safety_checks="stop")
        assert (decision.actions, decision.invalid, decision.stop) == ((), "", EndedBy.SAFETY_CHECK)
        assert decision.safety_checks == (self.CHECK,)


class TestLeftOut:
    def test_old_screenshots_are_left_out(self) -> None:
        models = FakeModels(*[calls(CLICK)] * 5)
        agent = begun("computer_use", models, images=2)
        for index in range(5):
            agent.act(seen(index))
        assert len(pictures(models.asked[4])) == 2
        assert texts(models.asked[4]).count("left out") == 3

    def test_old_turns_with_their_results(self) -> None:
        models = FakeModels(*[calls(CLICK)] * 5)
        agent = begun("computer_use", models, history=2)
        for index in range(5):
            agent.act(seen(index))
        asked = models.asked[4]
        assert roles(asked) == ["system", "user", "assistant", "user", "assistant", "user"]
        assert results(asked.messages[1]) == []
        assert "Save the file." in texts(asked.messages[1:2])


class TestEnds:
    def acted(self, *answers: Any) -> list[Any]:
        agent = begun("computer_use", FakeModels(*answers))
        return [agent.act(seen(index)) for index in range(len(answers))]

    def test_done_and_fail_by_the_last_word(self) -> None:
        assert self.acted("It is saved.\nDONE")[0].actions[0].type is ActionType.DONE
        assert self.acted("There is no such file.\nFAIL")[0].actions[0].type is ActionType.FAIL

    @pytest.mark.parametrize("replies", [("", ""), (" ", "\n"), ("I am done.", ""), ("", "I am done.")])
    def test_empty_replies_are_invalid_and_never_done(self, replies: tuple[str, str]) -> None:
        assert all(decision.invalid and not decision.actions for decision in self.acted(*replies))

    def test_second_reply_without_a_call_ends_the_episode(self) -> None:
        first, second = self.acted("Shall I go on?", "I have asked.")
        assert first.invalid
        assert first.actions == ()
        assert second.actions[0].type is ActionType.DONE

    def test_call_resets_the_count_of_replies_without_a_call(self) -> None:
        decisions = self.acted("Shall I?", calls(CLICK), "Shall I?")
        assert decisions[2].invalid
