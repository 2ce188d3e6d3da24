"""`openai_chat`: OpenAI's Chat Completions API, also of vLLM, Ollama, OpenRouter, Azure and many more."""

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from backend.domain.ports.model import Message, MessagePart, ModelReply, ModelRequest, StopReason, Tool
from backend.domain.registry import PluginKind, register
from backend.services.capacity.model_endpoints import Endpoint
from worker.models import _payloads
from worker.models._errors import fault_within
from worker.models._http import HttpAnswer, json_object
from worker.models._listing import Listing
from worker.models._stop_words import chat_stop
from worker.models.retrying_client import ApiRequest, Caller, ParsedReply

_REASONING = "reasoning"
_NEWER = re.compile(r"^(o\d|gpt-([5-9]|\d\d))")


@register(PluginKind.MODEL, "openai_chat")
class OpenAIChat:
    """Client of `/chat/completions`."""

    api = "openai_chat"
    about = "OpenAI's Chat Completions API and everything compatible with it."
    base_url = "https://api.openai.com/v1"

    @staticmethod
    def listing(endpoint: Endpoint) -> Listing:
        return Listing("/models", _payloads.bearer(endpoint.key.get_secret_value()))

    def __init__(self, caller: Caller) -> None:
        """Args: caller: sends requests to the endpoint."""
        self._caller = caller

    def complete(self, request: ModelRequest, *, on_text: Callable[[str], None] | None = None) -> ModelReply:
        post = _post(request, self._caller.key, streamed=on_text is not None)
        return self._caller.ask(post, _read if on_text is None else partial(_read_stream, on_text))


def _post(request: ModelRequest, key: str, *, streamed: bool) -> ApiRequest:
    newer = _NEWER.match(request.model) is not None
    longest = "max_completion_tokens" if newer else "max_tokens"
    fields: dict[str, Any] = {
        "tools": [_tool(tool) for tool in request.tools] or None,
        "temperature": request.temperature,
        "top_p": request.top_p,
        longest: request.max_tokens,
        "seed": request.seed,
        "stop": list(request.stop) or None,
    }
    if streamed:
        fields |= {"stream": True, "stream_options": {"include_usage": True}}
    return ApiRequest(
        model=request.model,
        path="/chat/completions",
        body={
            "model": request.model,
            "messages": [entry for message in request.messages for entry in _messages(message)],
            **{name: value for name, value in fields.items() if value is not None},
            **request.extra,
        },
        headers=_payloads.bearer(key),
        optional={name: name for name in ("seed", "stop", "top_p", "temperature")},
        renamed={longest: "max_tokens" if newer else "max_completion_tokens"},
    )


def _tool(tool: Tool) -> dict[str, Any]:
    if tool.vendor is not None:
        return dict(tool.vendor)
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.about, "parameters": _payloads.tool_schema(tool)},
    }


def _messages(message: Message) -> Iterator[dict[str, Any]]:
    """A message in this API's form: results are messages of their own, and pictures of results become the user's."""
    if message.role == "assistant":
        yield _assistant(message)
        return
    results = [part.result for part in message.parts if part.result is not None]
    for call, text in results:
        yield {"role": "tool", "tool_call_id": call, "content": text}
    content = [part for part in message.parts if part.text is not None or part.image is not None]
    if content:
        yield {"role": message.role, "content": _content(content)}


def _content(parts: list[MessagePart]) -> str | list[dict[str, Any]]:
    if len(parts) == 1 and parts[0].text is not None:
        return parts[0].text  # Some servers know no other form for text alone.
    return [
        {"type": "text", "text": part.text}
        if part.image is None
        else {"type": "image_url", "image_url": {"url": _payloads.picture_url(part.image)}}
        for part in parts
    ]


def _assistant(message: Message) -> dict[str, Any]:
    if raw := _payloads.raw_parts(message, OpenAIChat.api):
        return dict(raw[0])
    calls = [
        {
            "id": part.call.id,
            "type": "function",
            "function": {"name": part.call.name, "arguments": _payloads.encode_arguments(part.call)},
        }
        for part in message.parts
        if part.call is not None
    ]
    text = "\n\n".join(part.text for part in message.parts if part.text is not None)
    # Some servers reject an empty text, others a missing one.
    entry: dict[str, Any] = {"role": "assistant", "content": text or (None if calls else "")}
    return {**entry, "tool_calls": calls} if calls else entry


def _read(answer: HttpAnswer) -> ParsedReply:
    reply = answer.json()
    if reply.get("error"):
        raise fault_within(reply["error"])
    choice = reply["choices"][0]
    if choice.get("error"):
        raise fault_within(choice["error"])
    return _to_reply(choice["message"], choice.get("finish_reason"), reply.get("model"), reply.get("usage"))


def _read_stream(on_text: Callable[[str], None], answer: HttpAnswer) -> ParsedReply:
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    finish, model, usage, ended = None, "", None, False
    for _, data in answer.events():
        if data.strip() == "[DONE]":
            ended = True
            break
        chunk = json_object(data)
        if chunk.get("error"):
            raise fault_within(chunk["error"])
        model, usage = chunk.get("model") or model, chunk.get("usage") or usage
        for choice in chunk.get("choices") or ():
            if choice.get("index"):
                continue  # One is asked for; a second one would be mixed into it.
            if choice.get("error"):
                raise fault_within(choice["error"])
            _add(message, choice.get("delta") or {}, on_text)
            finish = choice.get("finish_reason") or finish
    _payloads.whole(ended or finish is not None)
    return _to_reply(message, finish, model, usage)


def _add(message: dict[str, Any], delta: dict[str, Any], on_text: Callable[[str], None]) -> None:
    if words := _text(delta.get("content")):
        message["content"] += words
        on_text(words)
    if thoughts := _thoughts(delta.get("content")):
        message["reasoning_content"] = message.get("reasoning_content", "") + thoughts
    for name in ("reasoning_content", "reasoning", "refusal"):
        if isinstance(delta.get(name), str):
            message[name] = message.get(name, "") + delta[name]
    if details := delta.get("reasoning_details"):
        message.setdefault("reasoning_details", []).extend(details)
    if refusal := _refusal(delta.get("content")):
        message["refusal"] = message.get("refusal", "") + refusal
    for piece in delta.get("tool_calls") or ():
        add_call(message.setdefault("tool_calls", []), piece)
    if function := delta.get("function_call"):
        add_call(message.setdefault("tool_calls", []), {"index": 0, "function": function})


def add_call(calls: list[dict[str, Any]], piece: dict[str, Any]) -> None:
    """Adds a piece of a call. Servers differ: some send names or whole calls again with each piece."""
    index = _place(calls, piece)
    if index >= _payloads.MOST_CALLS:
        return
    while len(calls) <= index:
        calls.append({"id": "", "type": "function", "function": {"name": "", "arguments": ""}})
    call, function = calls[index], piece.get("function") or {}
    call["id"] = piece.get("id") or call["id"]
    own, name, more = call["function"], function.get("name") or "", function.get("arguments") or ""
    if name != own["name"]:
        own["name"] += name
    more = more if isinstance(more, str) else json.dumps(more)
    if more != own["arguments"] or not _is_whole(more):
        own["arguments"] += more


def _place(calls: list[dict[str, Any]], piece: dict[str, Any]) -> int:
    """Which call a piece belongs to: by its number or id, else the last one.

    Some servers number all calls 0: a piece with a name and another id, after whole arguments, starts the next call.
    Ids alone say little, as others make a new one for each piece.
    """
    identity, index = piece.get("id"), piece.get("index")
    if not isinstance(index, int):
        positions = [number for number, call in enumerate(calls) if identity and call["id"] == identity]
        return positions[0] if positions else len(calls) if identity else max(0, len(calls) - 1)
    if index < len(calls) and identity and (piece.get("function") or {}).get("name"):
        call = calls[index]
        if call["id"] not in {"", identity} and _is_whole(call["function"]["arguments"]):
            return len(calls)
    return index


def _is_whole(arguments: str) -> bool:
    """Whether a call's arguments are a JSON object."""
    return bool(arguments.strip()) and "" not in _payloads.decode_arguments(arguments)


def _to_reply(message: dict[str, Any], finish: Any, model: Any, usage: Any) -> ParsedReply:
    calls = list(_calls(message))
    thinking = message.get("reasoning_content") or message.get("reasoning") or _thoughts(message.get("content"))
    thinking = thinking if isinstance(thinking, str) and thinking else _text(message.get("reasoning_details"))
    refusal = message.get("refusal") or _refusal(message.get("content"))
    return _payloads.reply(
        text=_text(message.get("content")) or refusal,
        calls=calls,
        thinking=thinking,
        stop=StopReason.REFUSAL if refusal else chat_stop(finish),
        model=model,
        api=OpenAIChat.api,
        # Models that think between calls need their thoughts back.
        content=[message] if thinking and calls else [],
        tokens=_payloads.openai_tokens(usage, "prompt_tokens", "completion_tokens"),
    )


def _calls(message: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Id, name and arguments of each call, also of the one in the older field `function_call`."""
    older = message.get("function_call")
    for call in [*(message.get("tool_calls") or ()), *([{"function": older}] if older else [])]:
        function = call.get("function") or {}
        if call.get("id") or any(function.values()):  # Servers that number from 1 leave a gap in a stream.
            yield str(call.get("id") or ""), function.get("name") or "", function.get("arguments")


def _text(content: Any) -> str:
    """A text, or the texts of a list of parts, without reasoning among them."""
    if isinstance(content, list):
        parts = [{"text": part} if isinstance(part, str) else part for part in content]
        return "".join(str(part.get("text") or "") for part in parts if part.get("type") != _REASONING)
    return "" if content is None else str(content)


def _thoughts(content: Any) -> str:
    """Reasoning among a list of parts."""
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return "\n\n".join(filter(None, (_text(_thought(part)) for part in parts)))


def _thought(part: dict[str, Any]) -> Any:
    """That of Mistral's `{"type": "thinking", "thinking": [parts]}`, or of gateways' `reasoning`."""
    return (part.get("summary") or part.get("text")) if part.get("type") == _REASONING else part.get("thinking")


def _refusal(content: Any) -> str:
    """The refusal among a list of parts."""
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return "".join(str(part.get("refusal") or "") for part in parts)
