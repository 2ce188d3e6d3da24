"""Every stop reason of the vendors' APIs and of compatible servers, and reasoning that models mark in their text."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from backend.domain.ports.model import ModelReply, StopReason
from tests.factories.models import LIVE, asked, client, endpoint
from tests.fakes.model_server import ModelServer, model_server

ANTHROPIC = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "malformed",  # There is no call in it.
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
    "pause_turn": "pause",
    "compaction": "pause",
    "a_new_one": "unclear",
}
CHAT = {
    "stop": "end",
    "eos": "end",
    "tool_calls": "malformed",
    "function_call": "malformed",
    "length": "length",
    "model_length": "length",
    "content_filter": "refusal",
    "sensitive": "refusal",
    "STOP": "end",
    "COMPLETE": "end",
    "MAX_TOKENS": "length",
    "model_context_window_exceeded": "length",
    "SAFETY": "refusal",
    "guardrail_intervened": "refusal",
    "pause_turn": "pause",
    "tool_call": "malformed",
    "TOOL_CALL": "malformed",
    "token_limit": "length",
    "max_completion_tokens": "length",
    "content_filtered": "refusal",
    "BLOCKLIST": "refusal",
    "IMAGE_SAFETY": "refusal",
    "MALFORMED_FUNCTION_CALL": "malformed",
    "malformed_tool_use": "malformed",
    "malformed_model_output": "malformed",
    "function_call_filter: MALFORMED_FUNCTION_CALL": "malformed",
    "function_call_filter: A_NEW_ONE": "unclear",
    "content_filter: RECITATION": "refusal",
    "content_filter: A_NEW_ONE": "refusal",
    "a_new_one: STOP": "unclear",
    "abort": "unclear",
    "insufficient_system_resource": "unclear",
    "error": "unclear",
    "a_new_one": "unclear",
}
GEMINI = {
    "STOP": "end",
    "MAX_TOKENS": "length",
    "SAFETY": "refusal",
    "RECITATION": "refusal",
    "LANGUAGE": "refusal",
    "BLOCKLIST": "refusal",
    "PROHIBITED_CONTENT": "refusal",
    "SPII": "refusal",
    "IMAGE_SAFETY": "refusal",
    "IMAGE_PROHIBITED_CONTENT": "refusal",
    "IMAGE_RECITATION": "refusal",
    "MALFORMED_FUNCTION_CALL": "malformed",
    "UNEXPECTED_TOOL_CALL": "malformed",
    "TOO_MANY_TOOL_CALLS": "malformed",
    "MISSING_THOUGHT_SIGNATURE": "malformed",
    "OTHER": "unclear",
    "FINISH_REASON_UNSPECIFIED": "unclear",
    "A_NEW_ONE": "unclear",
}
CASES = [
    pytest.param(api, word, stop, id=f"{api}-{word}")
    for api, stops in (("anthropic", ANTHROPIC), ("openai_chat", CHAT), ("gemini", GEMINI))
    for word, stop in stops.items()
]
MESSAGE = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "DONE"}]}
CALL = {"type": "function_call", "call_id": "c", "name": "click", "arguments": "{}"}
RESPONSES = [
    ({"status": "completed", "output": [{**MESSAGE, "status": "completed"}]}, "end"),
    ({"status": "completed", "output": [{**CALL, "status": "completed"}]}, "tool"),
    ({"status": "completed", "output": [{**CALL, "arguments": '{"x": 1'}]}, "malformed"),
    ({"status": "completed", "output": [{**CALL, "status": "incomplete"}]}, "malformed"),
    ({"status": "completed", "incomplete_details": {"reason": "max_output_tokens"}, "output": [MESSAGE]}, "length"),
    ({"status": "queued", "output": []}, "pause"),
    ({"status": "in_progress", "output": [MESSAGE]}, "pause"),
    ({"status": "cancelled", "output": [MESSAGE]}, "unclear"),
    ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": [MESSAGE]}, "length"),
    ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}, "output": [MESSAGE]}, "refusal"),
    ({"status": "incomplete", "incomplete_details": {"reason": "a_new_one"}, "output": [MESSAGE]}, "unclear"),
    ({"status": "incomplete", "output": [MESSAGE]}, "unclear"),
    ({"status": "a_new_one", "output": [MESSAGE]}, "unclear"),
    ({"output": [MESSAGE]}, "unclear"),
    ({"status": "completed", "output": [{"type": "custom_tool_call", "call_id": "c", "name": "x"}]}, "malformed"),
    ({"status": "completed", "output": [MESSAGE, {"type": "mcp_approval_request", "id": "m"}]}, "malformed"),
    ({"status": "completed", "output": [{"type": "web_search_call", "status": "completed"}, MESSAGE]}, "end"),
]


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running


class TestReasoning:
    @pytest.mark.parametrize("api", LIVE)
    def test_reasoning_marked_in_the_text_is_not_an_answer(self, server: ModelServer, api: str) -> None:
        for heard in (None, lambda _: None):
            server.say("<think>DONE?\n</think>\n\nI click.")
            reply = client(endpoint(api, f"{server.address}/v1")).complete(asked("Hi"), on_text=heard)
            assert (reply.text, reply.thinking) == ("I click.", "DONE?")

    @pytest.mark.parametrize(
        ("messages", "text", "thinking"),
        [
            ([("commentary", "DONE?"), ("final_answer", "FAIL")], "FAIL", "DONE?"),
            ([("commentary", "DONE")], "", "DONE"),
            ([(None, "DONE")], "DONE", ""),
        ],
    )
    def test_commentary_of_a_response_is_not_an_answer(
        self, server: ModelServer, messages: list[tuple[str | None, str]], text: str, thinking: str
    ) -> None:
        output = [
            {**MESSAGE, "phase": phase, "content": [{"type": "output_text", "text": words}]}
            for phase, words in messages
        ]
        server.say(wire={"status": "completed", "output": output})
        reply = client(endpoint("openai_responses", f"{server.address}/v1")).complete(asked("Hi"))
        assert (reply.text, reply.thinking) == (text, thinking)

    def test_thinking_parts_of_a_message_are_not_the_answer(self, server: ModelServer) -> None:
        content = [
            {"type": "thinking", "thinking": [{"type": "text", "text": "DONE?"}]},
            {"type": "text", "text": "I click."},
        ]
        server.say(wire={"choices": [{"message": {"content": content}, "finish_reason": "stop"}]})
        reply = client(endpoint("openai_chat", f"{server.address}/v1")).complete(asked("Hi"))
        assert (reply.text, reply.thinking, reply.stop) == ("I click.", "DONE?", "end")

    def test_reasoning_of_an_open_model_s_response_is_kept(self, server: ModelServer) -> None:
        thought = {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "DONE?"}]}
        server.say(wire={"status": "completed", "output": [thought, MESSAGE]})
        reply = client(endpoint("openai_responses", f"{server.address}/v1")).complete(asked("Hi"))
        assert (reply.text, reply.thinking) == ("DONE", "DONE?")

    def test_reasoning_details_of_a_chat_message_are_kept(self, server: ModelServer) -> None:
        message = {"content": "I click.", "reasoning_details": [{"type": "reasoning.text", "text": "DONE?"}]}
        server.say(wire={"choices": [{"message": message, "finish_reason": "stop"}]})
        reply = client(endpoint("openai_chat", f"{server.address}/v1")).complete(asked("Hi"))
        assert (reply.text, reply.thinking) == ("I click.", "DONE?")


class TestStopReason:
    @pytest.mark.parametrize(("api", "word", "stop"), CASES)
    def test_of_a_body_and_of_a_stream(self, server: ModelServer, api: str, word: str, stop: str) -> None:
        model = client(endpoint(api, f"{server.address}/v1"))
        for heard in (None, lambda _: None):
            server.say("DONE", stop=word)
            assert model.complete(asked("Hi"), on_text=heard).stop == stop

    @pytest.mark.parametrize(("body", "stop"), RESPONSES)
    def test_of_a_response(self, server: ModelServer, body: dict[str, Any], stop: str) -> None:
        server.say(wire=body)
        assert client(endpoint("openai_responses", f"{server.address}/v1")).complete(asked("Hi")).stop == stop

    @pytest.mark.parametrize("cut", [{"willContinue": True}, {"partialArgs": [{"jsonPath": "$.x", "numberValue": 1}]}])
    def test_a_call_whose_arguments_are_not_all_there(self, server: ModelServer, cut: dict[str, Any]) -> None:
        part = {"functionCall": {"name": "click_at", "args": {"x": 1}, **cut}}
        server.say(wire={"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]})
        assert client(endpoint("gemini", f"{server.address}/v1")).complete(asked("Hi")).stop == "malformed"

    def test_a_gemini_reply_of_ratings_alone(self, server: ModelServer) -> None:
        server.say(wire={"promptFeedback": {"safetyRatings": []}})
        assert client(endpoint("gemini", f"{server.address}/v1")).complete(asked("Hi")).stop == "unclear"

    def test_refusal_among_the_parts_of_a_chat_message_is_recognized(self, server: ModelServer) -> None:
        message = {"content": [{"type": "refusal", "refusal": "No."}]}
        server.say(wire={"choices": [{"message": message, "finish_reason": "stop"}]})
        reply = client(endpoint("openai_chat", f"{server.address}/v1")).complete(asked("Hi"))
        assert (reply.stop, reply.text) == ("refusal", "No.")

    def test_blocked_gemini_prompt_with_a_candidate_is_a_refusal(self, server: ModelServer) -> None:
        candidate = {"content": {"parts": [{"text": "DONE"}]}, "finishReason": "STOP"}
        server.say(wire={"promptFeedback": {"blockReason": "OTHER"}, "candidates": [candidate]})
        assert client(endpoint("gemini", f"{server.address}/v1")).complete(asked("Hi")).stop == "refusal"

    @pytest.mark.parametrize("stop", StopReason)
    def test_only_a_complete_reply_may_be_carried_out(self, stop: StopReason) -> None:
        assert bool(ModelReply(stop=stop).problem) is (stop not in {StopReason.END, StopReason.TOOL})

    def test_a_word_of_older_recordings_is_unclear(self) -> None:
        assert ModelReply.model_validate({"stop": "other"}).stop is StopReason.UNCLEAR


class TestChatStream:
    @staticmethod
    def complete(server: ModelServer, *deltas: dict[str, Any], finish: str = "stop") -> ModelReply:
        choices = [*({"index": 0, "delta": delta} for delta in deltas), {"delta": {}, "finish_reason": finish}]
        events = [f"data: {json.dumps({'choices': [choice]})}\n\n" for choice in choices]
        server.nonsense("".join([*events, "data: [DONE]\n\n"]).encode())
        return client(endpoint("openai_chat", f"{server.address}/v1")).complete(asked("Hi"), on_text=lambda _: None)

    def test_calls_numbered_from_1_are_read(self, server: ModelServer) -> None:
        piece = {"index": 1, "id": "a", "function": {"name": "click", "arguments": '{"x": 1}'}}
        reply = self.complete(server, {"tool_calls": [piece]}, finish="tool_calls")
        assert [(call.name, call.arguments) for call in reply.calls] == [("click", {"x": 1})]
        assert reply.stop == "tool"

    def test_second_call_cut_off_makes_the_reply_malformed(self, server: ModelServer) -> None:
        pieces = [
            {"index": number, "id": f"{number}", "function": {"name": "click", "arguments": arguments}}
            for number, arguments in enumerate(['{"x": 1}', '{"x":'])
        ]
        assert self.complete(server, *({"tool_calls": [piece]} for piece in pieces)).stop == "malformed"

    def test_reasoning_details_are_joined(self, server: ModelServer) -> None:
        details = [{"reasoning_details": [{"type": "reasoning.text", "text": word}]} for word in ("DO", "NE?")]
        reply = self.complete(server, *details, {"content": "WAIT"})
        assert (reply.text, reply.thinking) == ("WAIT", "DONE?")

    def test_refusal_among_parts_is_recognized(self, server: ModelServer) -> None:
        parts = [{"content": [{"type": "refusal", "refusal": word}]} for word in ("No", ".")]
        reply = self.complete(server, *parts)
        assert (reply.stop, reply.text) == ("refusal", "No.")
