"""`anthropic`: Anthropic's Messages API, with its computer tools."""

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from backend.domain.model.prices import Tokens
from backend.domain.model.trajectory import Frame
from backend.domain.ports.model import Message, MessagePart, ModelReply, ModelRequest, StopReason, Tool
from backend.domain.registry import PluginKind, register
from backend.services.capacity.model_endpoints import Endpoint
from worker.models import _payloads
from worker.models._errors import fault_within, nonsense
from worker.models._http import HttpAnswer, json_object
from worker.models._listing import Listing
from worker.models._stop_words import ANTHROPIC
from worker.models.retrying_client import ApiRequest, Caller, ParsedReply

VERSION = "2023-06-01"
LONGEST = 4096
"""Maximum tokens if the request has no limit: this API requires one."""
_COMPUTER = re.compile(r"^computer_(\d{4})(\d\d)(\d\d)$")
_CALL = frozenset({"type", "id", "name", "input"})
_GROWS = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "input_json_delta": ("input", "partial_json"),
}


@register(PluginKind.MODEL, "anthropic")
class Anthropic:
    """Client of `/v1/messages`."""

    api = "anthropic"
    about = "Anthropic's Messages API, with its computer tools."
    base_url = "https://api.anthropic.com/v1"

    @staticmethod
    def listing(endpoint: Endpoint) -> Listing:
        return Listing(f"{_prefix(endpoint)}/models", _headers(endpoint.key.get_secret_value()))

    def __init__(self, caller: Caller) -> None:
        """Args: caller: sends requests to the endpoint."""
        self._caller = caller

    def complete(self, request: ModelRequest, *, on_text: Callable[[str], None] | None = None) -> ModelReply:
        post = _post(request, self._caller.key, streamed=on_text is not None)
        post.path = f"{_prefix(self._caller.endpoint)}/messages"
        return self._caller.ask(post, _read if on_text is None else partial(_read_stream, on_text))


def _prefix(endpoint: Endpoint) -> str:
    """Path prefix of the API, unless the endpoint's address already ends with it."""
    return "" if endpoint.base_url.endswith("/v1") else "/v1"


def _headers(key: str) -> dict[str, str]:
    return {"anthropic-version": VERSION, "x-api-key": key}


def _post(request: ModelRequest, key: str, *, streamed: bool) -> ApiRequest:
    system, messages = _payloads.split_system(request.messages)
    fields = {
        "system": system or None,
        "tools": [_tool(tool) for tool in request.tools] or None,
        "temperature": None if request.temperature is None else min(1.0, request.temperature),
        "top_p": request.top_p,
        "stop_sequences": list(request.stop) or None,
        "stream": streamed or None,
    }
    extra = dict(request.extra)
    betas = [*_betas(request.tools), *extra.pop("betas", ())]
    headers = _headers(key)
    return ApiRequest(
        model=request.model,
        path="/v1/messages",
        body={
            "model": request.model,
            "max_tokens": request.max_tokens or LONGEST,
            "messages": _merge(messages),
            **{name: value for name, value in fields.items() if value is not None},
            **extra,
        },
        headers={**headers, "anthropic-beta": ",".join(dict.fromkeys(map(str, betas)))} if betas else headers,
        optional={"stop_sequences": "stop", "top_p": "top_p", "temperature": "temperature"},
        dropped=("seed",) if request.seed is not None else (),
    )


def _betas(tools: tuple[Tool, ...]) -> Iterator[str]:
    """Beta header of older computer tools; later ones need none."""
    for tool in tools:
        match = _COMPUTER.match(str((tool.vendor or {}).get("type", "")))
        if match:
            yield f"computer-use-{match[1]}-{match[2]}-{match[3]}"


def _tool(tool: Tool) -> dict[str, Any]:
    if tool.vendor is not None:
        return dict(tool.vendor)
    return {"name": tool.name, "description": tool.about, "input_schema": _payloads.tool_schema(tool)}


def _merge(messages: Any) -> list[dict[str, Any]]:
    """Messages with content; adjacent ones of one role are merged, as results must directly follow their calls."""
    merged: list[dict[str, Any]] = []
    for message in messages:
        content = list(_content(message))
        if not content:
            continue
        if merged and merged[-1]["role"] == message.role:
            merged[-1]["content"] += content
        else:
            merged.append({"role": message.role, "content": content})
    return merged


def _content(message: Message) -> Iterator[dict[str, Any]]:
    raw = _payloads.raw_parts(message, Anthropic.api)
    if raw:
        yield from (dict(block) for block in raw)
        return
    for part, pictures in _payloads.with_pictures(message.parts):
        yield from _blocks(part, pictures)


def _blocks(part: MessagePart, pictures: list[Frame]) -> Iterator[dict[str, Any]]:
    if part.text is not None and part.text.strip():  # Empty texts are refused.
        yield {"type": "text", "text": part.text}
    elif part.image is not None:
        yield _picture(part.image)
    elif part.call is not None:
        yield {"type": "tool_use", "id": part.call.id, "name": part.call.name, "input": dict(part.call.arguments)}
    elif part.result is not None:
        content = [
            {"type": "text", "text": part.result[1] or "(nothing)"},
            *(_picture(picture) for picture in pictures),
        ]
        failed = {"is_error": True} if part.failed else {}
        yield {"type": "tool_result", "tool_use_id": part.result[0], "content": content, **failed}


def _picture(frame: Frame) -> dict[str, Any]:
    source = {"type": "base64", "media_type": frame.media_type, "data": _payloads.picture_text(frame)}
    return {"type": "image", "source": source}


def _read(answer: HttpAnswer) -> ParsedReply:
    reply = answer.json()
    if reply.get("type") == "error":
        raise fault_within(reply.get("error"))
    return _to_reply(reply["content"], reply.get("stop_reason"), reply.get("model"), reply.get("usage") or {})


def _read_stream(on_text: Callable[[str], None], answer: HttpAnswer) -> ParsedReply:
    content: dict[int, dict[str, Any]] = {}
    stop, model, usage = None, "", dict[str, Any]()
    for _, data in answer.events():
        event = json_object(data)
        kind = event.get("type")
        if kind == "message_start":
            model, usage = event["message"].get("model"), dict(event["message"].get("usage") or {})
        elif kind == "content_block_start":
            content[int(event["index"])] = dict(event["content_block"])
        elif kind == "content_block_delta":
            _grow(content[int(event["index"])], event["delta"], on_text)
        elif kind == "message_delta":
            stop = event["delta"].get("stop_reason") or stop
            usage |= {name: value for name, value in (event.get("usage") or {}).items() if value is not None}
        elif kind == "error":
            raise fault_within(event.get("error"))
        elif kind == "message_stop":
            return _to_reply([_complete_block(content[index]) for index in sorted(content)], stop, model, usage)
        if len(content) > 4 * _payloads.MOST_CALLS:
            raise nonsense("the response has too many parts")
    raise nonsense("the response ends in the middle")


def _grow(block: dict[str, Any], delta: dict[str, Any], on_text: Callable[[str], None]) -> None:
    if delta.get("type") not in _GROWS:
        return  # Citations and what else may come one day.
    name, source = _GROWS[delta["type"]]
    if name == "text":
        on_text(delta[source])
    before = block.get(name)
    # A call's arguments start as an empty object and are streamed as text.
    block[name] = (before if isinstance(before, str) else "") + delta[source]


def _complete_block(block: dict[str, Any]) -> dict[str, Any]:
    """A complete block.

    Arguments that are not a JSON object are stored under an empty name, as this API requires objects.
    """
    if block.get("type") == "tool_use" and isinstance(block.get("input"), str):
        return {**block, "input": dict(_payloads.decode_arguments(block["input"]))}
    return block


def _to_reply(content: list[dict[str, Any]] | None, stop: Any, model: Any, usage: dict[str, Any]) -> ParsedReply:
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for block in content or ():
        by_kind.setdefault(str(block["type"]), []).append(block)
    # Signed thoughts, and additional fields of calls (`toolset_name`), must be returned unchanged.
    bears_more = any(block.keys() - _CALL for block in by_kind.get("tool_use", ()))
    keep_raw = bears_more or {"thinking", "redacted_thinking"} & by_kind.keys()
    return _payloads.reply(
        text="".join(str(block["text"] or "") for block in by_kind.get("text", ())),
        calls=[(str(block["id"]), block["name"], block.get("input")) for block in by_kind.get("tool_use", ())],
        thinking="\n\n".join(str(block.get("thinking") or "") for block in by_kind.get("thinking", ())).strip(),
        stop=ANTHROPIC.get(str(stop), StopReason.UNCLEAR),
        model=model,
        api=Anthropic.api,
        content=json.loads(json.dumps(content)) if keep_raw else [],
        tokens=_tokens(usage),
    )


def _tokens(usage: dict[str, Any]) -> Tokens | None:
    if "input_tokens" not in usage:
        return None
    cached = _payloads.number(usage.get("cache_read_input_tokens"))
    written = _payloads.number(usage.get("cache_creation_input_tokens"))
    hour = _payloads.number((usage.get("cache_creation") or {}).get("ephemeral_1h_input_tokens"))
    return Tokens(
        sent=_payloads.number(usage["input_tokens"]) + cached + written,
        answered=_payloads.number(usage.get("output_tokens")),
        cached=cached,
        written=written,
        hour=min(hour, written),
    )
