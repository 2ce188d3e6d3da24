"""Shapes of calls, parts and errors in vendors' replies that are rare: what of them is read, and what is malformed."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from backend.domain.ports.model import ModelReply
from tests.factories.models import asked, client, close_clients, endpoint
from tests.fakes.model_server import ModelServer, model_server


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running
    close_clients()


def complete(server: ModelServer, api: str, body: dict[str, Any]) -> ModelReply:
    server.say(wire=body)
    return client(endpoint(api, f"{server.address}/v1")).complete(asked("Hi"))


def chat(message: dict[str, Any], finish: str | None = "stop") -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}


def chat_call(arguments: Any, name: Any = "click") -> dict[str, Any]:
    call = {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}
    return chat({"content": None, "tool_calls": [call]}, "tool_calls")


def gemini(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": list(parts)}, "finishReason": "STOP"}]}


def anthropic(content: Any, stop: str) -> dict[str, Any]:
    return {"type": "message", "content": content, "stop_reason": stop, "usage": {}}


OLDER = {"content": None, "function_call": {"name": "click", "arguments": '{"x": 1}'}}
READ = [
    pytest.param("openai_chat", chat(OLDER, "function_call"), {"x": 1}, id="older field for a call"),
    pytest.param("openai_chat", chat_call({"x": 1}), {"x": 1}, id="arguments as an object"),
    pytest.param("openai_chat", chat_call(json.dumps('{"x": 1}')), {"x": 1}, id="arguments encoded twice"),
    pytest.param("openai_chat", chat_call('{"x": "a\nb"}'), {"x": "a\nb"}, id="line end that is not escaped"),
    pytest.param("openai_chat", chat_call(""), {}, id="no arguments"),
    pytest.param("gemini", gemini({"functionCall": {"name": "click"}}), {}, id="Gemini without arguments"),
]
MALFORMED = [
    pytest.param("openai_chat", chat_call('{"x": 1}{"x": 2}'), id="two objects as arguments"),
    pytest.param("openai_chat", chat_call("{'x': 1}"), id="arguments in Python"),
    pytest.param("openai_chat", chat_call("[1]"), id="a list as arguments"),
    pytest.param("openai_chat", chat_call("{}", name=""), id="call without a name"),
    pytest.param("openai_chat", chat_call("{}", name=None), id="null as name"),
    pytest.param("gemini", gemini({"functionCall": {"args": {"x": 1}}}), id="Gemini call without a name"),
    pytest.param(
        "openai_chat",
        chat({"tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "a", "input": "b"}}]}, "tool_calls"),
        id="call of a custom tool",
    ),
]
REASONING = [
    {"type": "reasoning", "text": "DONE?"},
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "DONE?"}]},
    {"type": "thinking", "thinking": [{"type": "text", "text": "DONE?"}]},
]


class TestCalls:
    @pytest.mark.parametrize(("api", "body", "arguments"), READ)
    def test_is_read(self, server: ModelServer, api: str, body: dict[str, Any], arguments: dict[str, Any]) -> None:
        reply = complete(server, api, body)
        assert [(call.name, dict(call.arguments)) for call in reply.calls] == [("click", arguments)]
        assert reply.stop == "tool"

    @pytest.mark.parametrize(("api", "body"), MALFORMED)
    def test_is_malformed(self, server: ModelServer, api: str, body: dict[str, Any]) -> None:
        assert complete(server, api, body).stop == "malformed"

    def test_call_without_a_name_is_not_sent_back(self, server: ModelServer) -> None:
        assert complete(server, "openai_chat", chat_call("{}", name="")).calls == ()

    def test_older_field_is_read_in_a_stream(self, server: ModelServer) -> None:
        pieces = [{"name": "click", "arguments": ""}, {"arguments": '{"x"'}, {"arguments": ": 1}"}]
        choices = [{"index": 0, "delta": {"function_call": piece}} for piece in pieces]
        events = [f"data: {json.dumps({'choices': [choice]})}\n\n" for choice in choices]
        end = 'data: {"choices": [{"delta": {}, "finish_reason": "function_call"}]}\n\ndata: [DONE]\n\n'
        server.nonsense("".join([*events, end]).encode())
        reply = client(endpoint("openai_chat", f"{server.address}/v1")).complete(asked("Hi"), on_text=lambda _: None)
        assert [(call.name, dict(call.arguments)) for call in reply.calls] == [("click", {"x": 1})]


class TestParts:
    @pytest.mark.parametrize("part", REASONING, ids=["text", "summary", "Mistral's"])
    def test_reasoning_among_parts_is_not_the_answer(self, server: ModelServer, part: dict[str, Any]) -> None:
        reply = complete(server, "openai_chat", chat({"content": [part, {"type": "text", "text": "FAIL"}]}))
        assert (reply.text, reply.thinking) == ("FAIL", "DONE?")

    def test_null_in_place_of_a_text_is_no_word(self, server: ModelServer) -> None:
        assert complete(server, "gemini", gemini({"text": None}, {"text": "DONE"})).text == "DONE"
        assert complete(server, "anthropic", anthropic([{"type": "text", "text": None}], "end_turn")).text == ""

    def test_refusal_without_content_is_a_refusal(self, server: ModelServer) -> None:
        assert complete(server, "anthropic", anthropic(None, "refusal")).stop == "refusal"


class TestErrors:
    def test_error_within_a_choice_is_asked_again(self, server: ModelServer) -> None:
        failed = {"finish_reason": "error", "error": {"code": 502, "message": "busy"}, "message": {"content": ""}}
        server.say(wire={"choices": [failed]})
        reply = complete(server, "openai_chat", chat({"content": "DONE"}))
        assert (reply.text, len(server.asked)) == ("DONE", 2)
