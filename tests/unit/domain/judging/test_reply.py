import json

import pytest

from backend.domain.judging.reply import BrokenReply, read_reply, text_of, verdict_tool
from backend.domain.ports.model import ModelReply, ToolCall
from tests.error_codes import raises_code
from tests.factories.judging import CRITERIA, answer

GOOD = answer(opened=(True, 1), final=False)


class TestReadReply:
    def test_in_the_order_of_the_criteria(self) -> None:
        result = read_reply(answer(final=False, opened=(True, 1)), CRITERIA, 2)
        assert [(one.name, one.reached, one.step, one.reason) for one in result] == [
            ("opened", True, 1, "opened: seen"),
            ("final", False, None, "final: seen"),
        ]

    def test_words_around_a_fenced_object(self) -> None:
        assert read_reply(f"I looked.\n```json\n{GOOD}\n```\nThat is all.", CRITERIA, 2)[0].reached

    def test_the_step_of_what_was_not_reached_says_nothing(self) -> None:
        assert read_reply(answer(opened=(False, 1), final=False), CRITERIA, 2)[0].step is None

    @pytest.mark.parametrize(
        ("text", "code", "name"),
        [
            ("I think it is done.", "not_json", ""),
            ("[]", "not_json", ""),
            ("[" * 100_000, "not_json", ""),
            ("{}", "invalid_field", "verdicts"),
            (answer(opened=True), "criterion_missing", "final"),
            (answer(opened=True, final=True, extra=True), "unknown_criterion", "extra"),
            (
                json.dumps({"verdicts": [*json.loads(GOOD)["verdicts"], json.loads(GOOD)["verdicts"][0]]}),
                "criterion_repeated",
                "opened",
            ),
            (GOOD.replace("true", '"yes"'), "invalid_field", "verdicts.0.reached"),
            (GOOD.replace("true", "1"), "invalid_field", "verdicts.0.reached"),
            (GOOD.replace('"opened: seen"', '""'), "invalid_field", "verdicts.0.reason"),
            (GOOD.replace('"step"', '"when"'), "invalid_field", "verdicts.0"),
            (answer(opened=(True, 3), final=False), "unknown_step", "step 3"),
            (answer(opened=(True, -1), final=False), "unknown_step", "step -1"),
        ],
    )
    def test_replies_without_an_answer(self, text: str, code: str, name: str) -> None:
        with raises_code(BrokenReply, code, mentions=name):
            read_reply(text, CRITERIA, 2)

    def test_a_step_where_none_was_made(self) -> None:
        with raises_code(BrokenReply, "unknown_step", mentions="step 1"):
            read_reply(GOOD, CRITERIA, None)


class TestTextOf:
    def test_the_tools_arguments_before_the_words(self) -> None:
        call = ToolCall(id="1", name="give_verdicts", arguments=json.loads(GOOD))
        assert json.loads(text_of(ModelReply(text="words", calls=(call,)))) == json.loads(GOOD)

    def test_another_tool_is_none_of_ours(self) -> None:
        assert text_of(ModelReply(text="words", calls=(ToolCall(id="1", name="click"),))) == "words"


class TestVerdictTool:
    def test_lists_every_criterion(self) -> None:
        items = verdict_tool(CRITERIA).schema_["properties"]["verdicts"]
        assert items["items"]["properties"]["name"]["enum"] == ["opened", "final"]
        assert (items["minItems"], items["maxItems"]) == (2, 2)
