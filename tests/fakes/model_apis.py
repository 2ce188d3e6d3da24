"""How the four model APIs look on the wire: whether a request is one, and a reply as a body or as events."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
Event = tuple[str, Json | str]
_PIECE = 7


@dataclass(frozen=True)
class ScriptedReply:
    """A model's reply, independent of an API.

    Attributes:
        calls: (name, arguments) of tools; arguments that are a text are sent as they stand, also when they are no JSON.
        stop: `end`, `length`, `tool`, `refusal`, or a word of one API.
        tokens: (sent, of them cached, answered).
        wire: the body to send in place of all this, word for word.
    """

    text: str = ""
    calls: Sequence[tuple[str, Mapping[str, Any] | str]] = ()
    thinking: str = ""
    stop: str = ""
    tokens: tuple[int, int, int] = (100, 0, 10)
    model: str = ""
    wire: Json | None = None

    @property
    def ended(self) -> str:
        """The default stop reason: `tool` with calls, else `end`."""
        return self.stop or ("tool" if self.calls else "end")


@dataclass(frozen=True)
class ModelApi:
    """One API.

    Attributes:
        fits: whether a path is its.
        wrong: what is wrong with a request (headers in small letters, body), or nothing.
        body: a reply as one body; args: what was said, the model that was asked for, the reply's number.
        events: a reply as (event's name or nothing, data) one after the other; same args, then the request.
        error: a failure's body; args: status, code, message.
    """

    name: str
    fits: Callable[[str], bool]
    wrong: Callable[[Mapping[str, str], Json], str]
    body: Callable[[ScriptedReply, str, int], Json]
    events: Callable[[ScriptedReply, str, int, Json], Iterator[Event]]
    error: Callable[[int, str, str], Json] = field(
        default=lambda status, code, text: {"error": {"message": text, "type": code, "code": code, "status": status}}
    )


def pieces(text: str) -> list[str]:
    """The text in pieces of a few letters."""
    return [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]


def _written(arguments: Mapping[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


# --- OpenAI-compatible chat completions

_CHAT_STOPS = {"end": "stop", "length": "length", "tool": "tool_calls", "refusal": "content_filter"}


def _chat_wrong(headers: Mapping[str, str], body: Json) -> str:
    if not body.get("model") or not isinstance(body.get("messages"), list):
        return "model and messages are required"
    known: set[str] = set()
    for message in body["messages"]:
        if message.get("role") not in {"system", "developer", "user", "assistant", "tool"}:
            return f"unknown role {message.get('role')}"
        known |= {call["id"] for call in message.get("tool_calls", ())}
        if message["role"] == "tool" and message.get("tool_call_id") not in known:
            return "a tool message must follow the call that it answers"
        if message["role"] == "tool" and not isinstance(message.get("content"), str):
            return "a tool message is text"
    return ""


def _chat_calls(reply: ScriptedReply, number: int) -> list[Json]:
    return [
        {"id": f"call_{number}_{at}", "type": "function", "function": {"name": name, "arguments": _written(arguments)}}
        for at, (name, arguments) in enumerate(reply.calls)
    ]


def _chat_usage(reply: ScriptedReply) -> Json:
    sent, cached, answered = reply.tokens
    details = {"cached_tokens": cached}
    return {
        "prompt_tokens": sent,
        "completion_tokens": answered,
        "total_tokens": sent + answered,
        "prompt_tokens_details": details,
    }


def _chat_body(reply: ScriptedReply, model: str, number: int) -> Json:
    message: Json = {"role": "assistant", "content": reply.text or None}
    if reply.calls:
        message["tool_calls"] = _chat_calls(reply, number)
    if reply.thinking:
        message["reasoning_content"] = reply.thinking
    choice = {"index": 0, "message": message, "finish_reason": _CHAT_STOPS.get(reply.ended, reply.ended)}
    envelope = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1700000000, "model": model}
    return {**envelope, "choices": [choice], "usage": _chat_usage(reply)}


def _chat_events(reply: ScriptedReply, model: str, number: int, asked: Json) -> Iterator[Event]:
    def chunk(delta: Json, finish: str | None = None) -> Event:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return "", {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "model": model, "choices": [choice]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces(reply.thinking):
        yield chunk({"reasoning_content": piece})
    for piece in pieces(reply.text):
        yield chunk({"content": piece})
    for at, call in enumerate(_chat_calls(reply, number)):
        name = {"name": call["function"]["name"], "arguments": ""}
        yield chunk({"tool_calls": [{"index": at, "id": call["id"], "type": "function", "function": name}]})
        for piece in pieces(call["function"]["arguments"]):
            yield chunk({"tool_calls": [{"index": at, "function": {"arguments": piece}}]})
    yield chunk({}, _CHAT_STOPS.get(reply.ended, reply.ended))
    if (asked.get("stream_options") or {}).get("include_usage"):
        yield "", {"id": f"chatcmpl-{number}", "model": model, "choices": [], "usage": _chat_usage(reply)}
    yield "", "[DONE]"


# --- OpenAI responses


def _responses_wrong(headers: Mapping[str, str], body: Json) -> str:
    if not body.get("model") or not isinstance(body.get("input"), list):
        return "model and input are required"
    kinds = {"message", "function_call", "function_call_output", "computer_call", "computer_call_output", "reasoning"}
    known: set[str] = set()
    for item in body["input"]:
        kind = item.get("type", "message")
        if kind not in kinds:
            return f"unknown item {kind}"
        if kind in {"function_call", "computer_call"}:
            known.add(item["call_id"])
        if kind.endswith("_output") and item.get("call_id") not in known:
            return "No tool call found for this output"
    return ""


def _responses_output(reply: ScriptedReply, number: int) -> list[Json]:
    output: list[Json] = []
    if reply.thinking:
        summary = [{"type": "summary_text", "text": reply.thinking}]
        output.append({"type": "reasoning", "id": f"rs_{number}", "summary": summary, "encrypted_content": "c2ln"})
    if reply.text or not reply.calls:
        kind = "refusal" if reply.ended == "refusal" else "output_text"
        content = [{"type": kind, ("refusal" if kind == "refusal" else "text"): reply.text}]
        envelope = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
        output.append({**envelope, "content": content})
    output.extend(
        {
            "type": "function_call",
            "id": f"fc_{number}_{at}",
            "call_id": f"call_{number}_{at}",
            "name": name,
            "arguments": _written(arguments),
            "status": "completed",
        }
        for at, (name, arguments) in enumerate(reply.calls)
    )
    return output


def _responses_body(reply: ScriptedReply, model: str, number: int) -> Json:
    sent, cached, answered = reply.tokens
    cut = reply.ended == "length"
    return {
        "id": f"resp_{number}",
        "object": "response",
        "model": model,
        "status": "incomplete" if cut else "completed",
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "output": _responses_output(reply, number),
        "usage": {
            "input_tokens": sent,
            "input_tokens_details": {"cached_tokens": cached},
            "output_tokens": answered,
            "total_tokens": sent + answered,
        },
    }


def _responses_events(reply: ScriptedReply, model: str, number: int, asked: Json) -> Iterator[Event]:
    whole = _responses_body(reply, model, number)
    empty = {**whole, "status": "in_progress", "output": [], "usage": None}
    yield "response.created", {"type": "response.created", "response": empty}
    for at, item in enumerate(whole["output"]):
        added = "response.output_item.added"
        yield added, {"type": added, "output_index": at, "item": {**item, "status": "in_progress"}}
        if item["type"] == "message":
            for piece in pieces(reply.text):
                delta = "response.output_text.delta"
                yield delta, {"type": delta, "output_index": at, "item_id": item["id"], "delta": piece}
        done = "response.output_item.done"
        yield done, {"type": done, "output_index": at, "item": item}
    last = f"response.{whole['status']}"
    yield last, {"type": last, "response": whole}


# --- Anthropic messages

_ANTHROPIC_STOPS = {"end": "end_turn", "length": "max_tokens", "tool": "tool_use", "refusal": "refusal"}


def _anthropic_wrong(headers: Mapping[str, str], body: Json) -> str:
    if "anthropic-version" not in headers:
        return "anthropic-version: header is required"
    if not body.get("model") or not isinstance(body.get("max_tokens"), int) or not body.get("messages"):
        return "model, max_tokens and messages are required"
    for before, message in zip([None, *body["messages"]], body["messages"], strict=False):
        if message.get("role") not in {"user", "assistant"} or not message.get("content"):
            return "messages: a role and content are required"
        called = {part["id"] for part in (before or {}).get("content", ()) if part["type"] == "tool_use"}
        answers = [part["tool_use_id"] for part in message["content"] if part["type"] == "tool_result"]
        if set(answers) != called:
            return "tool_use ids were found without tool_result blocks immediately after, or the other way round"
    vendor = [tool["type"] for tool in body.get("tools", ()) if tool.get("type", "").startswith("computer_2")]
    if vendor and "computer-use" not in headers.get("anthropic-beta", ""):
        return f"tools: {vendor[0]} needs a beta header"
    return ""


def _anthropic_content(reply: ScriptedReply, number: int) -> list[Json]:
    content: list[Json] = []
    if reply.thinking:
        content.append({"type": "thinking", "thinking": reply.thinking, "signature": "c2ln"})
    if reply.text:
        content.append({"type": "text", "text": reply.text})
    content.extend(
        {"type": "tool_use", "id": f"toolu_{number}_{at}", "name": name, "input": arguments}
        for at, (name, arguments) in enumerate(reply.calls)
    )
    return content


def _anthropic_body(reply: ScriptedReply, model: str, number: int) -> Json:
    sent, cached, answered = reply.tokens
    usage = {"input_tokens": sent - cached, "cache_creation_input_tokens": 0, "cache_read_input_tokens": cached}
    envelope = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": model}
    stop = {"stop_reason": _ANTHROPIC_STOPS.get(reply.ended, reply.ended), "stop_sequence": None}
    return {
        **envelope,
        **stop,
        "content": _anthropic_content(reply, number),
        "usage": {**usage, "output_tokens": answered},
    }


def _anthropic_events(reply: ScriptedReply, model: str, number: int, asked: Json) -> Iterator[Event]:
    def event(kind: str, **data: Any) -> Event:
        return kind, {"type": kind, **data}

    whole = _anthropic_body(reply, model, number)
    usage = {**whole["usage"], "output_tokens": 1}
    yield event("message_start", message={**whole, "content": [], "stop_reason": None, "usage": usage})
    yield event("ping")
    empty: dict[str, Json] = {
        "thinking": {"thinking": "", "signature": ""},
        "text": {"text": ""},
        "tool_use": {"input": {}},
    }
    for at, block in enumerate(whole["content"]):
        kind = block["type"]
        yield event("content_block_start", index=at, content_block={**block, **empty[kind]})
        text = _written(block["input"]) if kind == "tool_use" else block[kind]
        delta, key = {
            "tool_use": ("input_json_delta", "partial_json"),
            "text": ("text_delta", "text"),
            "thinking": ("thinking_delta", "thinking"),
        }[kind]
        for piece in pieces(text):
            yield event("content_block_delta", index=at, delta={"type": delta, key: piece})
        if kind == "thinking":
            signed = {"type": "signature_delta", "signature": block["signature"]}
            yield event("content_block_delta", index=at, delta=signed)
        yield event("content_block_stop", index=at)
    stop = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield event("message_delta", delta=stop, usage={"output_tokens": whole["usage"]["output_tokens"]})
    yield event("message_stop")


def _anthropic_error(status: int, code: str, text: str) -> Json:
    return {"type": "error", "error": {"type": code, "message": text}}


# --- Gemini generateContent

_GEMINI_STOPS = {"end": "STOP", "length": "MAX_TOKENS", "tool": "STOP", "refusal": "SAFETY"}


def _gemini_wrong(headers: Mapping[str, str], body: Json) -> str:
    if not body.get("contents"):
        return "contents is not specified"
    for content in body["contents"]:
        if content.get("role") not in {"user", "model"} or not content.get("parts"):
            return "contents: a role (user or model) and parts are required"
    return ""


def _gemini_parts(reply: ScriptedReply) -> list[Json]:
    parts: list[Json] = []
    if reply.thinking:
        parts.append({"text": reply.thinking, "thought": True})
    if reply.text:
        parts.append({"text": reply.text})
    for name, arguments in reply.calls:
        parts.append({"functionCall": {"name": name, "args": arguments}, "thoughtSignature": "c2ln"})
    return parts


def _gemini_body(reply: ScriptedReply, model: str, number: int) -> Json:
    sent, cached, answered = reply.tokens
    content = {"role": "model", "parts": _gemini_parts(reply)}
    usage = {"promptTokenCount": sent, "cachedContentTokenCount": cached, "candidatesTokenCount": answered}
    return {
        "candidates": [{"content": content, "finishReason": _GEMINI_STOPS.get(reply.ended, reply.ended), "index": 0}],
        "usageMetadata": {**usage, "totalTokenCount": sent + answered},
        "modelVersion": model,
        "responseId": f"r{number}",
    }


def _gemini_events(reply: ScriptedReply, model: str, number: int, asked: Json) -> Iterator[Event]:
    whole = _gemini_body(reply, model, number)
    last = whole["candidates"][0]
    for part in last["content"]["parts"]:
        cut = [{**part, "text": piece} for piece in pieces(part["text"])] if "text" in part else [part]
        for piece in cut:
            yield "", {**whole, "candidates": [{"content": {"role": "model", "parts": [piece]}, "index": 0}]}
    yield "", {**whole, "candidates": [{**last, "content": {"role": "model", "parts": [{"text": ""}]}}]}


def _gemini_error(status: int, code: str, text: str) -> Json:
    return {"error": {"code": status, "message": text, "status": code.upper()}}


APIS = (
    ModelApi("openai_chat", lambda path: path.endswith("/chat/completions"), _chat_wrong, _chat_body, _chat_events),
    ModelApi(
        "openai_responses",
        lambda path: path.endswith("/responses"),
        _responses_wrong,
        _responses_body,
        _responses_events,
    ),
    ModelApi(
        "anthropic",
        lambda path: path.endswith("/messages"),
        _anthropic_wrong,
        _anthropic_body,
        _anthropic_events,
        _anthropic_error,
    ),
    ModelApi(
        "gemini",
        lambda path: "enerateContent" in path,
        _gemini_wrong,
        _gemini_body,
        _gemini_events,
        _gemini_error,
    ),
)
