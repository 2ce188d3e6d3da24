"""Particulars of each API: the form of its requests, and replies that only it gives."""

from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from backend.domain.errors import Invalid
from backend.domain.ports.model import Message, MessagePart, ModelReply, Tool, ToolCall
from tests.error_codes import raises_code
from tests.factories.models import CLICK, PICTURE, asked, client, close_clients, endpoint
from tests.fakes.model_server import ModelServer, ScriptedReply, model_server

SCREEN = "data:image/png;base64,iVBORyBwaWN0dXJl"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as found:
        yield found
    close_clients()


def reply_of(server: ModelServer, api: str, *said: Any, **options: Any) -> ModelReply:
    return client(endpoint(api, server.address)).complete(asked(*(said or ("Hi",)), **options))


def body_of(server: ModelServer, api: str, *said: Any, **options: Any) -> dict[str, Any]:
    server.say("Well.")
    reply_of(server, api, *said, **options)
    return server.asked[-1].body


def user(*parts: MessagePart) -> Message:
    return Message(role="user", parts=parts)


class TestOpenAIChat:
    def test_openai_chat_request_is_complete(self, server: ModelServer) -> None:
        call = ToolCall(id="c1", name="click", arguments={"x": 1})
        turn = Message(role="assistant", parts=(MessagePart(text="So."), MessagePart(call=call)))
        results = user(MessagePart(result=("c1", "ok")), MessagePart(image=PICTURE))
        system = Message(role="system", parts=(MessagePart(text="Be brief."),))
        body = body_of(
            server, "openai_chat", system, user(MessagePart(text="Go")), turn, results, tools=(CLICK,), max_tokens=9
        )
        function = {"name": "click", "arguments": '{"x": 1}'}
        assert body == {
            "model": "model-1",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Go"},
                {
                    "role": "assistant",
                    "content": "So.",
                    "tool_calls": [{"id": "c1", "type": "function", "function": function}],
                },
                {"role": "tool", "tool_call_id": "c1", "content": "ok"},
                {"role": "user", "content": [{"type": "image_url", "image_url": {"url": SCREEN}}]},
            ],
            "tools": [
                {
                    "type": "function",
                    "function": {"name": "click", "description": "Clicks.", "parameters": CLICK.schema_},
                }
            ],
            "max_tokens": 9,
        }

    def test_later_models_want_another_name_for_the_longest_answer(self, server: ModelServer) -> None:
        assert "max_completion_tokens" in body_of(server, "openai_chat", model="gpt-5.4", max_tokens=9)

    def test_max_completion_tokens_is_used_when_the_api_requires_it(self, server: ModelServer) -> None:
        words = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
        server.fail(400, text=words)
        body = body_of(server, "openai_chat", max_tokens=9)
        assert (body.get("max_tokens"), body["max_completion_tokens"]) == (None, 9)

    def test_invalid_json_arguments_are_preserved(self, server: ModelServer) -> None:
        server.say(calls=[("click", "{x: 3")])
        reply = reply_of(server, "openai_chat")
        assert dict(reply.calls[0].arguments) == {"": "{x: 3"}
        turn = Message(role="assistant", parts=(MessagePart(call=reply.calls[0]),))
        body = body_of(server, "openai_chat", turn, user(MessagePart(result=(reply.calls[0].id, "wrong"))))
        assert body["messages"][0]["tool_calls"][0]["function"]["arguments"] == "{x: 3"

    def test_a_server_that_counts_no_tokens_is_unpriced(self, server: ModelServer) -> None:
        choice = {"message": {"content": "Hi."}, "finish_reason": "stop"}
        server.say(wire={"choices": [choice]})
        usage = reply_of(server, "openai_chat", model="gpt-4o").usage
        assert (usage.priced, usage.input_tokens, usage.calls) == (False, 0, 1)

    def test_a_refusal_in_a_field_of_its_own(self, server: ModelServer) -> None:
        choice = {"message": {"content": None, "refusal": "I will not."}, "finish_reason": "stop"}
        server.say(wire={"choices": [choice]})
        reply = reply_of(server, "openai_chat")
        assert (reply.text, reply.stop) == ("I will not.", "refusal")

    def test_other_service_tier_is_not_priced(self, server: ModelServer) -> None:
        server.say("Hi.")
        assert not reply_of(server, "openai_chat", model="gpt-4o", extra={"service_tier": "priority"}).usage.priced

    def test_error_body_with_status_200_is_raised(self, server: ModelServer) -> None:
        server.say(wire={"error": {"message": "context too long", "code": 400}})
        with raises_code(Invalid, "model_request_invalid", mentions="context too long"):
            reply_of(server, "openai_chat")


class TestOpenAIResponses:
    CALL: ClassVar[dict[str, Any]] = {
        "type": "computer_call",
        "id": "cu_1",
        "call_id": "c1",
        "status": "completed",
        "action": {"type": "click", "x": 3, "y": 4, "button": "left"},
        "pending_safety_checks": [{"id": "s1", "code": "malicious", "message": "?"}],
    }

    def test_the_computer_tool_there_and_back(self, server: ModelServer) -> None:
        server.say(wire={"status": "completed", "model": "cua", "output": [self.CALL], "usage": None})
        tool = Tool(name="computer", vendor={"type": "computer_use_preview", "environment": "linux"})
        reply = reply_of(server, "openai_responses", tools=(tool,))
        assert reply.calls[0].name == "computer_call"
        assert reply.calls[0].arguments["action"]["x"] == 3
        turn = Message(
            role="assistant", parts=(*(MessagePart(raw=raw) for raw in reply.raw), MessagePart(call=reply.calls[0]))
        )
        body = body_of(
            server, "openai_responses", turn, user(MessagePart(result=("c1", "done")), MessagePart(image=PICTURE))
        )
        assert body["input"] == [
            self.CALL,
            {
                "type": "computer_call_output",
                "call_id": "c1",
                "output": {"type": "computer_screenshot", "image_url": SCREEN},
                "acknowledged_safety_checks": self.CALL["pending_safety_checks"],
            },
        ]
        assert server.asked[0].body["tools"] == [tool.vendor]

    def test_omitted_screenshot_is_sent_as_a_blank_image(self, server: ModelServer) -> None:
        call = ToolCall(id="c1", name="computer_call", arguments={"action": {"type": "screenshot"}})
        turn = Message(role="assistant", parts=(MessagePart(call=call),))
        body = body_of(
            server, "openai_responses", turn, user(MessagePart(result=("c1", "done")), MessagePart(text="(left out)"))
        )
        assert body["input"][1]["output"]["image_url"].startswith("data:image/png;base64,iVBORw0KGgo")
        assert body["input"][2]["content"] == [{"type": "input_text", "text": "(left out)"}]

    def test_responses_are_not_stored_by_the_api(self, server: ModelServer) -> None:
        body = body_of(server, "openai_responses")
        assert (body["store"], body["include"]) == (False, ["reasoning.encrypted_content"])

    def test_failed_responses_are_retried(self, server: ModelServer) -> None:
        server.say(wire={"status": "failed", "error": {"code": "server_error", "message": "Sorry"}, "output": []})
        server.say("Now.")
        assert reply_of(server, "openai_responses").text == "Now."


class TestAnthropic:
    def test_older_computer_tool_sets_its_beta_header(self, server: ModelServer) -> None:
        tool = Tool(name="computer", vendor={"type": "computer_20250124", "name": "computer", "display_width_px": 800})
        body = body_of(server, "anthropic", tools=(tool,), extra={"betas": ["one-2026-01-01"]})
        assert server.asked[0].headers["anthropic-beta"] == "computer-use-2025-01-24,one-2026-01-01"
        assert (body["tools"], "betas" in body) == ([tool.vendor], False)

    def test_a_toolset_needs_none(self, server: ModelServer) -> None:
        body_of(server, "anthropic", tools=(Tool(name="computer", vendor={"type": "computer_toolset_20260801"}),))
        assert "anthropic-beta" not in server.asked[0].headers

    def test_a_call_comes_back_with_all_that_it_bore(self, server: ModelServer) -> None:
        block = {"type": "tool_use", "id": "c1", "name": "zoom", "toolset_name": "computer", "input": {"x": 1}}
        server.say(wire={"content": [block], "stop_reason": "tool_use", "model": "m", "usage": {}})
        reply = reply_of(server, "anthropic")
        assert [(call.id, call.name) for call in reply.calls] == [("c1", "zoom")]
        turn = Message(
            role="assistant", parts=(*(MessagePart(raw=raw) for raw in reply.raw), MessagePart(call=reply.calls[0]))
        )
        body = body_of(server, "anthropic", turn, user(MessagePart(result=("c1", "done"))))
        assert body["messages"][0]["content"] == [block]

    def test_pictures_of_a_result_are_in_it_and_empty_words_nowhere(self, server: ModelServer) -> None:
        turn = Message(
            role="assistant", parts=(MessagePart(text=" "), MessagePart(call=ToolCall(id="c1", name="click")))
        )
        body = body_of(
            server,
            "anthropic",
            turn,
            user(MessagePart(result=("c1", "")), MessagePart(image=PICTURE)),
            user(MessagePart(text="Go")),
        )
        source = {"type": "base64", "media_type": "image/png", "data": "iVBORyBwaWN0dXJl"}
        content = [{"type": "text", "text": "(nothing)"}, {"type": "image", "source": source}]
        assert body["messages"] == [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "click", "input": {}}]},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": content},
                    {"type": "text", "text": "Go"},
                ],
            },
        ]

    def test_tokens_of_the_cache_are_input(self, server: ModelServer) -> None:
        usage = {
            "input_tokens": 10,
            "cache_read_input_tokens": 1000,
            "cache_creation_input_tokens": 100,
            "output_tokens": 5,
        }
        server.say(wire={"content": [{"type": "text", "text": "Hi."}], "stop_reason": "end_turn", "usage": usage})
        found = reply_of(server, "anthropic", model="claude-opus-4-5").usage
        assert (found.input_tokens, found.cached_tokens) == (1110, 1000)
        assert found.usd == pytest.approx((10 * 5 + 1000 * 0.5 + 100 * 6.25 + 5 * 25) / 1e6)

    def test_max_tokens_has_a_default(self, server: ModelServer) -> None:
        assert body_of(server, "anthropic")["max_tokens"] == 4096

    def test_signed_thoughts_go_back_as_they_came_also_streamed(self, server: ModelServer) -> None:
        server.say("So.", thinking="Hm.", calls=[("click", {"x": 1})])
        reply = client(endpoint("anthropic", server.address)).complete(asked("Hi"), on_text=lambda _: None)
        assert reply.raw == (
            {
                "api": "anthropic",
                "content": [
                    {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                    {"type": "text", "text": "So."},
                    {"type": "tool_use", "id": reply.calls[0].id, "name": "click", "input": {"x": 1}},
                ],
            },
        )


class TestGemini:
    def test_gemini_request_is_complete(self, server: ModelServer) -> None:
        turn = Message(
            role="assistant", parts=(MessagePart(call=ToolCall(id="click#0", name="click", arguments={"x": 1})),)
        )
        system = Message(role="system", parts=(MessagePart(text="Be brief."),))
        results = user(MessagePart(result=("click#0", "ok")), MessagePart(image=PICTURE))
        body = body_of(server, "gemini", system, user(MessagePart(text="Go")), turn, results, tools=(CLICK,), top_p=0.5)
        assert body == {
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": [
                {"role": "user", "parts": [{"text": "Go"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "click", "args": {"x": 1}}}]},
                {
                    "role": "user",
                    "parts": [
                        {"functionResponse": {"name": "click", "response": {"output": "ok"}}},
                        {"inlineData": {"mimeType": "image/png", "data": "iVBORyBwaWN0dXJl"}},
                    ],
                },
            ],
            "tools": [
                {
                    "functionDeclarations": [
                        {"name": "click", "description": "Clicks.", "parametersJsonSchema": CLICK.schema_}
                    ]
                }
            ],
            "generationConfig": {"topP": 0.5},
        }
        assert server.asked[0].path == "/v1beta/models/model-1:generateContent"

    def test_the_computer_tool_s_screen_is_in_its_result(self, server: ModelServer) -> None:
        tool = Tool(name="computer", vendor={"computerUse": {"environment": "ENVIRONMENT_BROWSER"}})
        turn = Message(role="assistant", parts=(MessagePart(call=ToolCall(id="own-1", name="click_at")),))
        results = user(MessagePart(result=("own-1", '{"url": "about:blank"}')), MessagePart(image=PICTURE))
        body = body_of(server, "gemini", turn, results, tools=(tool,))
        assert body["tools"] == [tool.vendor]
        assert body["contents"][1]["parts"] == [
            {
                "functionResponse": {
                    "name": "click_at",
                    "id": "own-1",
                    "response": {"url": "about:blank"},
                    "parts": [{"inlineData": {"mimeType": "image/png", "data": "iVBORyBwaWN0dXJl"}}],
                }
            }
        ]

    def test_refused_prompt_is_a_refusal(self, server: ModelServer) -> None:
        server.say(wire={"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 9}})
        reply = reply_of(server, "gemini")
        assert (reply.text, reply.stop, reply.usage.input_tokens) == ("", "refusal", 9)

    def test_thoughts_are_answered_tokens(self, server: ModelServer) -> None:
        usage = {"promptTokenCount": 9, "candidatesTokenCount": 2, "thoughtsTokenCount": 40}
        content = {"parts": [{"text": "Hi."}]}
        server.say(wire={"candidates": [{"content": content, "finishReason": "STOP"}], "usageMetadata": usage})
        assert reply_of(server, "gemini").usage.output_tokens == 42

    def test_a_signed_call_goes_back_as_it_came(self, server: ModelServer) -> None:
        server.answer = lambda _: ScriptedReply("So.", calls=[("click", {"x": 1})])
        speaker = client(endpoint("gemini", server.address))
        whole, streamed = (speaker.complete(asked("Hi"), on_text=on_text).raw for on_text in (None, lambda _: None))
        parts = [{"text": "So."}, {"functionCall": {"name": "click", "args": {"x": 1}}, "thoughtSignature": "c2ln"}]
        assert whole == streamed == ({"api": "gemini", "content": parts},)
