"""`openai_responses`: OpenAI's Responses API, with its computer tool.

Nothing is stored there: requests are complete.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from backend.domain.model.trajectory import Frame
from backend.domain.ports.model import Message, ModelReply, ModelRequest, StopReason, Tool
from backend.domain.registry import PluginKind, register
from backend.services.capacity.model_endpoints import Endpoint
from worker.models import _payloads
from worker.models._errors import fault_within, nonsense
from worker.models._http import HttpAnswer, json_object
from worker.models._listing import Listing
from worker.models.retrying_client import ApiRequest, Caller, ParsedReply

COMPUTER = "computer_call"
"""Name of a call of the computer tool; its arguments are `action` or `actions`, and `pending_safety_checks`."""
_INCOMPLETE = {
    "max_output_tokens": StopReason.LENGTH,
    "max_messages": StopReason.LENGTH,
    "content_filter": StopReason.REFUSAL,
    "steered": StopReason.PAUSE,
}
NOTHING_TO_ADD = "done"
"""The text of a result that is the screen alone."""
_LAST = frozenset({"response.completed", "response.incomplete", "response.failed"})
_SENT_BACK = frozenset({"reasoning", COMPUTER})
_UNREAD = frozenset({"custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "mcp_approval_request"})
"""Items that wait for a result of ours, of tools that we do not have."""
_KNOWN_CALLS = ("action", "actions", "pending_safety_checks")


@register(PluginKind.MODEL, "openai_responses")
class OpenAIResponses:
    """Client of `/responses`."""

    api = "openai_responses"
    about = "OpenAI's Responses API, with its computer tool."
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
    system, messages = _payloads.split_system(request.messages)
    fields = {
        "instructions": system or None,
        "tools": [_tool(tool) for tool in request.tools] or None,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "max_output_tokens": request.max_tokens,
        "stream": streamed or None,
    }
    unknown = {"seed": request.seed is not None, "stop": bool(request.stop)}
    return ApiRequest(
        model=request.model,
        path="/responses",
        body={
            "model": request.model,
            "input": list(_input(messages)),
            "store": False,
            # Without storage a model's reasoning persists only if it is sent back, encrypted.
            "include": ["reasoning.encrypted_content"],
            **{name: value for name, value in fields.items() if value is not None},
            **request.extra,
        },
        headers=_payloads.bearer(key),
        optional={"include": "include", "top_p": "top_p", "temperature": "temperature"},
        dropped=tuple(name for name, setting in unknown.items() if setting),
    )


def _tool(tool: Tool) -> dict[str, Any]:
    if tool.vendor is not None:
        return dict(tool.vendor)
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.about,
        "parameters": _payloads.tool_schema(tool),
        "strict": False,
    }


def _input(messages: Any) -> Iterator[dict[str, Any]]:
    """All items in order; results look up in earlier turns which kind of call they answer."""
    computers: dict[str, Mapping[str, Any]] = {}
    for message in messages:
        if message.role == "assistant":
            for item in _turn(message):
                if item.get("type") == COMPUTER:
                    computers[str(item.get("call_id"))] = item
                yield item
        else:
            yield from _user(message, computers)


def _turn(message: Message) -> Iterator[dict[str, Any]]:
    raw = _payloads.raw_parts(message, OpenAIResponses.api)
    if raw:
        yield from (dict(item) for item in raw)
        return
    text = "\n\n".join(part.text for part in message.parts if part.text is not None)
    if text:
        yield {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    for part in message.parts:
        if part.call is not None and part.call.name == COMPUTER:
            yield {"type": COMPUTER, "call_id": part.call.id, "status": "completed", **part.call.arguments}
        elif part.call is not None:
            call = {"call_id": part.call.id, "name": part.call.name, "arguments": _payloads.encode_arguments(part.call)}
            yield {"type": "function_call", **call}


def _user(message: Message, computers: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Results first, then one message with everything else.

    A picture goes into the computer's result, which must have one.
    """
    latest = next((part.image for part in reversed(message.parts) if part.image is not None), None)
    latest_shown: Frame | None = None
    content: list[dict[str, Any]] = []
    for part, pictures in _payloads.with_pictures(message.parts):
        if part.result is not None and part.result[0] in computers:
            latest_shown = latest
            yield _screenshot(computers[part.result[0]], pictures[-1] if pictures else latest)
            words = {"type": "input_text", "text": part.result[1]}
            if part.result[1] != NOTHING_TO_ADD and words not in content:
                content.append(words)  # A screenshot has no place for words.
        elif part.result is not None:
            yield {"type": "function_call_output", "call_id": part.result[0], "output": part.result[1]}
            content += [_picture(picture) for picture in pictures if picture is not latest_shown]
        elif part.text is not None:
            content.append({"type": "input_text", "text": part.text})
        elif part.image is not None and part.image is not latest_shown:
            content.append(_picture(part.image))
    if content:
        yield {"type": "message", "role": message.role, "content": content}


def _screenshot(call: Mapping[str, Any], frame: Frame | None) -> dict[str, Any]:
    url = _payloads.BLANK if frame is None else _payloads.picture_url(frame)
    output = {"type": "computer_screenshot", "image_url": url}
    item = {"type": "computer_call_output", "call_id": call["call_id"], "output": output}
    # A run whose policy is to stop at a check has no next request.
    checks = call.get("pending_safety_checks")
    return {**item, "acknowledged_safety_checks": checks} if checks else item


def _picture(frame: Frame) -> dict[str, Any]:
    return {"type": "input_image", "image_url": _payloads.picture_url(frame)}


def _read(answer: HttpAnswer) -> ParsedReply:
    return _to_reply(answer.json())


def _read_stream(on_text: Callable[[str], None], answer: HttpAnswer) -> ParsedReply:
    for _, data in answer.events():
        event = json_object(data)
        kind = event.get("type")
        if kind == "response.output_text.delta":
            on_text(str(event["delta"]))
        elif kind == "error":
            raise fault_within(event.get("error") or event)
        elif kind in _LAST:
            return _to_reply(event["response"])
    raise nonsense("the response ends in the middle")


def _to_reply(reply: dict[str, Any]) -> ParsedReply:
    if reply.get("status") == "failed" or ("output" not in reply and reply.get("error")):
        raise fault_within(reply.get("error") or "failed without a reason")
    output = [item for item in reply["output"] if isinstance(item, dict)]
    messages = [item for item in output if item.get("type") == "message"]
    calls = [call for item in output for call in _calls(item)]
    # What a model says on its way to the answer is no answer; beside calls it explains them.
    aside = [] if calls else [item for item in messages if item.get("phase") == "commentary"]
    refused = any(part.get("type") == "refusal" for item in messages for part in item.get("content") or ())
    # Open models' reasoning is in `content`, of which OpenAI's own have only a summary.
    thoughts = [
        part
        for item in output
        if item.get("type") == "reasoning"
        for part in item.get("summary") or item.get("content") or ()
    ]
    return _payloads.reply(
        text="".join(_words(item) for item in messages if item not in aside),
        calls=calls,
        thinking="\n\n".join([*(str(part.get("text") or "") for part in thoughts), *map(_words, aside)]),
        stop=StopReason.REFUSAL if refused else _stop(reply, output),
        model=reply.get("model"),
        api=OpenAIResponses.api,
        # Reasoning must be sent back together with the items that followed it, and messages with their phase.
        content=output if any(item.get("type") in _SENT_BACK or item.get("phase") for item in output) else [],
        tokens=_payloads.openai_tokens(reply.get("usage"), "input_tokens", "output_tokens"),
        checks=[check for item in output if item.get("type") == COMPUTER for check in _checks(item)],
    )


def _words(message: Mapping[str, Any]) -> str:
    return "".join(str(part.get("text") or part.get("refusal") or "") for part in message.get("content") or ())


def _checks(item: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    for check in item.get("pending_safety_checks") or ():
        yield check.get("code"), check.get("message")


def _calls(item: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    if item.get("type") == "function_call":
        yield str(item["call_id"]), item["name"], item.get("arguments")
    elif item.get("type") == COMPUTER:
        yield str(item["call_id"]), COMPUTER, {name: item[name] for name in _KNOWN_CALLS if item.get(name)}


def _stop(reply: Mapping[str, Any], output: Sequence[Mapping[str, Any]]) -> StopReason:
    """Why a response ended. A completed one may still have items that are not."""
    status, reason = reply.get("status"), (reply.get("incomplete_details") or {}).get("reason")
    if status == "completed" and not reason:
        complete = all(item.get("status") in {None, "completed"} and item.get("type") not in _UNREAD for item in output)
        return StopReason.END if complete else StopReason.MALFORMED
    if status in {"queued", "in_progress"}:
        return StopReason.PAUSE
    has_ended = status in {"completed", "incomplete"}
    return _INCOMPLETE.get(str(reason), StopReason.UNCLEAR) if has_ended else StopReason.UNCLEAR
