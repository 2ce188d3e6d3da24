"""Every word of the vendors' SDKs that a reply can have: each is mapped, and a new one fails here until it is.

The SDKs are test dependencies only. `UNCLEAR` lists the words whose replies we refuse on purpose; any other word must
have a meaning of its own.
"""

from collections.abc import Collection
from typing import Any, get_args

import pytest
from anthropic.types import StopReason as AnthropicStop
from anthropic.types.beta import BetaComputerMemberName, BetaStopReason
from google.genai import types as genai
from openai.types.chat import chat_completion
from openai.types.responses import (
    ResponseComputerToolCall,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseStatus,
    response,
    response_computer_tool_call,
)
from openai.types.responses.computer_action import ComputerAction

from backend.domain.actions.anthropic_computer import AnthropicComputer
from backend.domain.actions.openai_computer import OpenAIComputer
from backend.domain.errors import InvalidAction
from backend.domain.ports.model import ModelReply, StopReason, ToolCall
from tests.factories.models import asked, client, endpoint
from tests.fakes.model_server import ModelServer, model_server

UNCLEAR = {
    "anthropic": frozenset[str](),
    "openai_chat": frozenset[str](),
    "openai_responses": frozenset({"cancelled"}),
    "gemini": frozenset({"FINISH_REASON_UNSPECIFIED", "OTHER", "IMAGE_OTHER", "NO_IMAGE"}),
}
MESSAGE = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]}
"""A whole reply of the Responses API, but for its status."""
ANTHROPIC_INPUTS: dict[str, dict[str, Any]] = {
    "key": {"text": "a"},
    "hold_key": {"text": "a", "duration": 1},
    "type": {"text": "a"},
    "mouse_move": {"coordinate": [1, 1]},
    "left_click_drag": {"coordinate": [1, 1]},
    "scroll": {"scroll_direction": "up", "scroll_amount": 1},
    "zoom": {"region": [0, 0, 5, 5]},
}
"""Arguments that an action cannot do without."""
OPENAI_INPUTS: dict[str, dict[str, Any]] = {
    "click": {"x": 1, "y": 1, "button": "left"},
    "double_click": {"x": 1, "y": 1},
    "move": {"x": 1, "y": 1},
    "drag": {"path": [{"x": 1, "y": 1}, {"x": 2, "y": 2}]},
    "keypress": {"keys": ["a"]},
    "scroll": {"x": 1, "y": 1, "scroll_x": 0, "scroll_y": 100},
    "type": {"text": "a"},
}


def literals(model: Any, name: str) -> list[str]:
    """The words that a field of an SDK's model may have."""
    return _words(model.model_fields[name].annotation)


def _words(annotation: Any) -> list[str]:
    parts = [part for part in get_args(annotation) if part is not type(None)]
    return [word for part in parts for word in ([part] if isinstance(part, str) else _words(part))]


def action_types(union: Any) -> set[str]:
    """The values of `type` of a discriminated union's members."""
    members = get_args(get_args(union)[0]) or get_args(union)
    return {word for member in members for word in literals(member, "type")}


@pytest.fixture(scope="module")
def server() -> Any:
    with model_server() as running:
        yield running


def stop_of(server: ModelServer, api: str, **said: Any) -> StopReason:
    server.say(**said)
    return client(endpoint(api, f"{server.address}/v1")).complete(asked("Hi")).stop


def check(word: str, stop: StopReason, refused: Collection[str]) -> None:
    assert (stop is StopReason.UNCLEAR) is (word in refused), f"{word!r} is new: map it, or list it as unclear"


class TestStopReasons:
    @pytest.mark.parametrize("word", sorted({*get_args(AnthropicStop), *get_args(BetaStopReason)}))
    def test_anthropic_stop_reasons(self, server: ModelServer, word: str) -> None:
        check(word, stop_of(server, "anthropic", text="Hi", stop=word), UNCLEAR["anthropic"])

    @pytest.mark.parametrize("word", literals(chat_completion.Choice, "finish_reason"))
    def test_openai_chat_stop_reasons(self, server: ModelServer, word: str) -> None:
        check(word, stop_of(server, "openai_chat", text="Hi", stop=word), UNCLEAR["openai_chat"])

    @pytest.mark.parametrize("word", [reason.value for reason in genai.FinishReason])
    def test_gemini_stop_reasons(self, server: ModelServer, word: str) -> None:
        check(word, stop_of(server, "gemini", text="Hi", stop=word), UNCLEAR["gemini"])

    @pytest.mark.parametrize("word", [reason.value for reason in genai.BlockedReason])
    def test_blocked_gemini_prompt_is_a_refusal(self, server: ModelServer, word: str) -> None:
        assert stop_of(server, "gemini", wire={"promptFeedback": {"blockReason": word}}) is StopReason.REFUSAL

    @pytest.mark.parametrize("word", sorted(set(get_args(ResponseStatus)) - {"failed", "incomplete"}))
    def test_openai_responses_stop_reasons(self, server: ModelServer, word: str) -> None:
        stop = stop_of(server, "openai_responses", wire={"status": word, "output": [MESSAGE]})
        check(word, stop, UNCLEAR["openai_responses"])

    @pytest.mark.parametrize("word", literals(response.IncompleteDetails, "reason"))
    def test_incomplete_openai_response_stop_reasons(self, server: ModelServer, word: str) -> None:
        body = {"status": "incomplete", "incomplete_details": {"reason": word}, "output": [MESSAGE]}
        check(word, stop_of(server, "openai_responses", wire=body), ())

    @pytest.mark.parametrize(
        "word",
        sorted(
            word
            for item in (ResponseComputerToolCall, ResponseFunctionToolCall, ResponseOutputMessage)
            for word in set(literals(item, "status"))
        ),
    )
    def test_only_a_completed_item_is_carried_out(self, server: ModelServer, word: str) -> None:
        body = {"status": "completed", "output": [{**MESSAGE, "status": word}]}
        assert (stop_of(server, "openai_responses", wire=body) is StopReason.END) is (word == "completed")


class TestComputerActions:
    @pytest.mark.parametrize("name", get_args(BetaComputerMemberName))
    def test_anthropic_computer_actions(self, name: str) -> None:
        call = ToolCall(id="1", name=name, arguments=ANTHROPIC_INPUTS.get(name, {}))
        assert AnthropicComputer(AnthropicComputer.Params(zoom=True)).parse(ModelReply(calls=(call,)))

    @pytest.mark.parametrize(
        "name", sorted(action_types(ComputerAction) | action_types(response_computer_tool_call.Action))
    )
    def test_openai_computer_actions(self, name: str) -> None:
        action = {"type": name, **OPENAI_INPUTS.get(name, {})}
        assert OpenAIComputer().parse(ModelReply(calls=(_computer_call(action),)))

    def test_a_name_that_no_sdk_has_is_refused(self) -> None:
        with pytest.raises(InvalidAction):
            OpenAIComputer().parse(ModelReply(calls=(_computer_call({"type": "teleport"}),)))


def _computer_call(action: dict[str, Any]) -> ToolCall:
    return ToolCall(id="1", name="computer_call", arguments={"action": action})
