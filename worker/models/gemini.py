"""`gemini`: Google's generateContent API, with its computer tool."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any
from urllib.parse import quote

from backend.domain.model.prices import Tokens
from backend.domain.model.trajectory import Frame
from backend.domain.ports.model import Message, MessagePart, ModelReply, ModelRequest, StopReason, Tool, ToolCall
from backend.domain.registry import PluginKind, register
from backend.services.capacity.model_endpoints import Endpoint
from worker.models import _payloads
from worker.models._errors import fault_within, nonsense
from worker.models._http import HttpAnswer, json_object
from worker.models._listing import Listing
from worker.models._stop_words import GEMINI
from worker.models.retrying_client import ApiRequest, Caller, ParsedReply

_ANSWERS = frozenset({"candidates", "promptFeedback"})
_CONFIRM = "require_confirmation"
_ALLOWED = frozenset({"", "regular", "allowed"})
_CONFIG = "generationConfig"
_FIELDS = {"seed": "seed", "stopSequences": "stop", "topP": "top_p", "temperature": "temperature"}


@register(PluginKind.MODEL, "gemini")
class Gemini:
    """Client of `/v1beta/models/MODEL:generateContent`."""

    api = "gemini"
    about = "Google's generateContent API, with its computer tool."
    base_url = "https://generativelanguage.googleapis.com/v1beta"

    @staticmethod
    def listing(endpoint: Endpoint) -> Listing:
        return Listing(f"{_prefix(endpoint)}/models", _headers(endpoint.key.get_secret_value()))

    def __init__(self, caller: Caller) -> None:
        """Args: caller: sends requests to the endpoint."""
        self._caller = caller

    def complete(self, request: ModelRequest, *, on_text: Callable[[str], None] | None = None) -> ModelReply:
        way = "streamGenerateContent?alt=sse" if on_text is not None else "generateContent"
        model = quote(request.model.removeprefix("models/"), safe="")
        path = f"{_prefix(self._caller.endpoint)}/models/{model}:{way}"
        post = _post(request, path, self._caller.key)
        return self._caller.ask(post, _read if on_text is None else partial(_read_stream, on_text))


def _prefix(endpoint: Endpoint) -> str:
    """Path prefix of the API, unless the endpoint's address already ends with it."""
    return "" if endpoint.base_url.rpartition("/")[2] in {"v1", "v1beta", "v1alpha"} else "/v1beta"


def _headers(key: str) -> dict[str, str]:
    return {"x-goog-api-key": key} if key else {}


def _post(request: ModelRequest, path: str, key: str) -> ApiRequest:
    system, messages = _payloads.split_system(request.messages)
    config = {
        "temperature": request.temperature,
        "topP": request.top_p,
        "maxOutputTokens": request.max_tokens,
        "seed": request.seed,
        "stopSequences": list(request.stop) or None,
    }
    extra = dict(request.extra)
    settings = {name: value for name, value in config.items() if value is not None} | dict(extra.pop(_CONFIG, {}))
    vendor = any(tool.vendor is not None for tool in request.tools)
    return ApiRequest(
        model=request.model,
        path=path,
        body={
            "contents": _contents(messages, nested=vendor),
            **({"systemInstruction": {"parts": [{"text": system}]}} if system else {}),
            **({"tools": list(_tools(request.tools))} if request.tools else {}),
            **({_CONFIG: settings} if settings else {}),
            **extra,
        },
        headers=_headers(key),
        optional={f"{_CONFIG}.{field}": name for field, name in _FIELDS.items()},
    )


def _tools(tools: tuple[Tool, ...]) -> Iterator[dict[str, Any]]:
    yield from (dict(tool.vendor) for tool in tools if tool.vendor is not None)
    declared = [
        {
            "name": tool.name,
            "description": tool.about,
            **({"parametersJsonSchema": dict(tool.schema_)} if tool.schema_ else {}),
        }
        for tool in tools
        if tool.vendor is None
    ]
    if declared:
        yield {"functionDeclarations": declared}


def _contents(messages: Any, *, nested: bool) -> list[dict[str, Any]]:
    """All turns. This API identifies calls by function name, so results look it up in earlier turns."""
    calls: dict[str, ToolCall] = {}
    contents: list[dict[str, Any]] = []
    for message in messages:
        calls |= {part.call.id: part.call for part in message.parts if part.call is not None}
        raw = _payloads.raw_parts(message, Gemini.api)
        parts = raw or list(_parts(message, calls, nested=nested))
        role = "model" if message.role == "assistant" else "user"
        if parts and contents and contents[-1]["role"] == role:
            contents[-1]["parts"] += parts
        elif parts:
            contents.append({"role": role, "parts": parts})
    return contents


def _parts(message: Message, calls: Mapping[str, ToolCall], *, nested: bool) -> Iterator[dict[str, Any]]:
    for part, pictures in _payloads.with_pictures(message.parts):
        if part.text is not None:
            yield {"text": part.text}
        elif part.image is not None:
            yield _picture(part.image)
        elif part.call is not None:
            own = {} if "#" in part.call.id else {"id": part.call.id}
            yield {"functionCall": {**own, "name": part.call.name, "args": dict(part.call.arguments)}}
        elif part.result is not None:
            yield _result(part, calls, pictures if nested else [])
            yield from (_picture(picture) for picture in pictures if not nested)


def _result(part: MessagePart, calls: Mapping[str, ToolCall], pictures: list[Frame]) -> dict[str, Any]:
    """The computer tool requires its screen inside the result; a text that is a JSON object becomes the response."""
    call, text = part.result or ("", "")
    response = _payloads.decode_arguments(text) if text.lstrip().startswith("{") else {"output": text}
    result: dict[str, Any] = {"name": calls[call].name if call in calls else call.partition("#")[0]}
    result["response"] = {"error": text} if part.failed else {"output": text} if "" in response else dict(response)
    if call in calls and _decision(calls[call].arguments)[0] == _CONFIRM:
        # A run whose policy is to stop at a check has no next request.
        result["response"]["safety_acknowledgement"] = "true"
    if "#" not in call:
        result["id"] = call  # Its own, not one of ours.
    return {
        "functionResponse": {**result, "parts": [_picture(picture) for picture in pictures]} if pictures else result
    }


def _picture(frame: Frame) -> dict[str, Any]:
    return {"inlineData": {"mimeType": frame.media_type, "data": _payloads.picture_text(frame)}}


def _read(answer: HttpAnswer) -> ParsedReply:
    reply = answer.json()
    if reply.get("error"):
        raise fault_within(reply["error"])
    if not reply.keys() & _ANSWERS:
        raise nonsense("the response has no candidate")
    return _to_reply(reply, *_first_candidate(reply))


def _read_stream(on_text: Callable[[str], None], answer: HttpAnswer) -> ParsedReply:
    parts: list[dict[str, Any]] = []
    finish: Any = None
    last: dict[str, Any] = {}
    for _, data in answer.events():
        chunk = json_object(data)
        last |= chunk
        if chunk.get("error"):
            raise fault_within(chunk["error"])
        if not chunk.keys() & _ANSWERS:
            continue  # The last one may have the usage alone.
        more, ended = _first_candidate(chunk)
        for part in more:
            if part.get("text") and not part.get("thought"):
                on_text(part["text"])
            _join(parts, part)
        finish = ended or finish
    _payloads.whole(finish is not None)
    return _to_reply(last, parts, finish)


def _join(parts: list[dict[str, Any]], part: dict[str, Any]) -> None:
    """Merges text pieces into one part; signed parts stay unchanged."""
    plain = {"text", "thought"}
    before = parts[-1] if parts else {}
    if (
        part.keys() <= plain
        and "text" in before
        and before.keys() <= plain
        and before.get("thought") == part.get("thought")
    ):
        before["text"] += part["text"]
    elif part.get("text") or part.keys() - plain:
        parts.append(dict(part))


def _first_candidate(reply: dict[str, Any]) -> tuple[list[dict[str, Any]], Any]:
    """The first candidate's parts and finish reason; a refused prompt has none, nor has a chunk of ratings."""
    blocked = (reply.get("promptFeedback") or {}).get("blockReason") and "SAFETY"
    first = (reply.get("candidates") or [{}])[0]
    return list((first.get("content") or {}).get("parts") or ()), blocked or first.get("finishReason")


def _to_reply(reply: dict[str, Any], parts: list[dict[str, Any]], finish: Any) -> ParsedReply:
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    checks = [check for check in (_decision(call.get("args")) for call in calls) if check[0] not in _ALLOWED]
    blocked = any(code != _CONFIRM for code, _ in checks)
    # Arguments that come in pieces are whole only at the end.
    cut = any(call.get("willContinue") or call.get("partialArgs") for call in calls)
    stop = StopReason.MALFORMED if cut else GEMINI.get(str(finish), StopReason.UNCLEAR)
    return _payloads.reply(
        text="".join(str(part["text"]) for part in parts if part.get("text") and not part.get("thought")),
        calls=[(_id(call, index), call.get("name") or "", call.get("args") or {}) for index, call in enumerate(calls)],
        thinking="".join(str(part["text"]) for part in parts if part.get("thought") and part.get("text")),
        stop=StopReason.REFUSAL if blocked else stop,
        model=reply.get("modelVersion"),
        api=Gemini.api,
        content=json.loads(json.dumps(parts)) if any("thoughtSignature" in part for part in parts) else [],
        tokens=_tokens(reply.get("usageMetadata")),
        checks=checks,
    )


def _decision(arguments: Any) -> tuple[str, str]:
    """The safety system's decision on a call, in lower case, and its words; empty if it has none."""
    decision = arguments.get("safety_decision") if isinstance(arguments, Mapping) else None
    if not isinstance(decision, Mapping):
        return str(decision or "").lower(), ""
    return str(decision.get("decision") or "").lower(), str(decision.get("explanation") or "")


def _id(call: Mapping[str, Any], index: int) -> str:
    """Its id; else the name, so that a result finds it even without the earlier turn."""
    return str(call.get("id") or f"{call.get('name')}#{index}")


def _tokens(usage: Any) -> Tokens | None:
    if not isinstance(usage, dict) or "promptTokenCount" not in usage:
        return None
    thought = _payloads.number(usage.get("thoughtsTokenCount"))
    return Tokens(
        sent=_payloads.number(usage["promptTokenCount"]) + _payloads.number(usage.get("toolUsePromptTokenCount")),
        answered=_payloads.number(usage.get("candidatesTokenCount")) + thought,
        cached=_payloads.number(usage.get("cachedContentTokenCount")),
    )
