"""Common parts of API payloads: pictures as text, arguments as JSON, limits, and conversion of parts."""

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from backend.domain.model.prices import Tokens
from backend.domain.model.reasoning import split_reasoning
from backend.domain.model.trajectory import Frame, SafetyCheck
from backend.domain.ports.model import Message, MessagePart, ModelReply, StopReason, Tool, ToolCall
from worker.models._errors import nonsense
from worker.models.retrying_client import ParsedReply

MOST_TEXT = 2**20
MOST_CALLS = 64
BLANK = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "YPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
"""One pixel, for APIs that require a picture where none is left."""
Json = dict[str, Any]
Heard = Callable[[str], None] | None


def bearer(key: str) -> dict[str, str]:
    """The header with the key for most APIs; none without a key."""
    return {"Authorization": f"Bearer {key}"} if key else {}


def picture_text(frame: Frame) -> str:
    """A picture's bytes in base64."""
    return base64.b64encode(frame.data).decode()


def picture_url(frame: Frame) -> str:
    """A picture as a `data:` URL."""
    return f"data:{frame.media_type};base64,{picture_text(frame)}"


def decode_arguments(arguments: Any) -> Mapping[str, Any]:
    """A call's arguments; `{"": text}` if they are not a JSON object, empty if there are none.

    Line ends that texts do not escape are read, and an object that was encoded twice.
    """
    if isinstance(arguments, dict):
        return arguments
    text = "" if arguments is None else str(arguments)
    if not text.strip():
        return {}
    try:
        value = json.loads(text, strict=False)
        value = json.loads(value, strict=False) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"": text[:MOST_TEXT]}


def encode_arguments(call: ToolCall) -> str:
    """Reverse of `decode_arguments`: arguments as the model wrote them."""
    arguments = dict(call.arguments)
    return str(arguments[""]) if set(arguments) == {""} else json.dumps(arguments, ensure_ascii=False)


def split_system(request_messages: Sequence[Message]) -> tuple[str, Sequence[Message]]:
    """Splits into system text and the remaining messages."""
    first = request_messages[0] if request_messages else None
    if first is None or first.role != "system":
        return "", request_messages
    return "\n\n".join(part.text for part in first.parts if part.text is not None), request_messages[1:]


def raw_parts(message: Message, api: str) -> list[Any]:
    """Raw parts of a turn to return to the API unchanged; empty if none are of this API."""
    return [
        item
        for part in message.parts
        if part.raw is not None and part.raw.get("api") == api
        for item in part.raw["content"]
    ]


def with_pictures(parts: Iterable[MessagePart]) -> Iterator[tuple[MessagePart, list[Frame]]]:
    """Parts, each result together with the pictures that follow it; other pictures alone."""
    pending: tuple[MessagePart, list[Frame]] | None = None
    for part in parts:
        if pending is not None and part.image is not None:
            pending[1].append(part.image)
            continue
        if pending is not None:
            yield pending
            pending = None
        if part.result is not None:
            pending = (part, [])
        else:
            yield part, []
    if pending is not None:
        yield pending


def number(value: Any) -> int:
    """A count by an API: a whole number that is not negative, else 0."""
    return value if isinstance(value, int) and value >= 0 else 0


def openai_tokens(usage: Any, sent: str, answered: str) -> Tokens | None:
    """The counts of an OpenAI API, whose names differ: `prompt_tokens` or `input_tokens`; None if it sent none."""
    if not isinstance(usage, dict) or sent not in usage:
        return None
    details = usage.get(f"{sent}_details") or {}
    return Tokens(
        sent=number(usage[sent]),
        answered=number(usage.get(answered)),
        cached=number(details.get("cached_tokens")),
        written=number(details.get("cache_write_tokens")),
    )


def tool_schema(tool: Tool) -> Json:
    """JSON schema of a tool's arguments; APIs require one."""
    return dict(tool.schema_) or {"type": "object", "properties": {}}


def reply(  # noqa: PLR0913 - what a reply has
    *,
    text: str,
    calls: Sequence[tuple[str, str, Any]],
    thinking: str,
    stop: StopReason,
    model: Any,
    api: str,
    content: Sequence[Any] = (),
    tokens: Tokens | None,
    checks: Sequence[tuple[Any, Any]] = (),
) -> ParsedReply:
    """A reply within its limits.

    Args:
        text: all text, with the reasoning that the model marked in it.
        calls: (id or nothing, name, arguments as returned by the API).
        thinking: reasoning that the API keeps apart.
        stop: as in ModelReply; `end` with calls becomes `tool`; both become `malformed` if one of them has no JSON
            object or no name, `tool` also without a call.
        model: model that answered, in the API's terms.
        api: the client's name.
        content: the turn to return to the API; empty = not needed.
        tokens: None = not counted.
        checks: (code, message) of each safety check that waits for consent.
    """
    tool_calls = tuple(
        ToolCall(id=call_id or f"call_{index}", name=str(name)[:200], arguments=decode_arguments(arguments))
        for index, (call_id, name, arguments) in enumerate(calls[:MOST_CALLS])
        if name  # APIs refuse a turn that has a call without a name.
    )
    all_named = all(name for _, name, _ in calls)
    parts = split_reasoning(text[:MOST_TEXT])
    return ParsedReply(
        ModelReply(
            text=parts.answer,
            calls=tool_calls,
            thinking="\n\n".join(filter(None, (thinking.strip(), parts.reasoning)))[:MOST_TEXT],
            raw=({"api": api, "content": list(content)},) if content else (),
            stop=_stop_of(tool_calls, stop, all_named=all_named),
            model=str(model or "")[:200],
            safety_checks=tuple(
                SafetyCheck(code=str(code or "")[:200], message=str(message or "")[:4_000])
                for code, message in checks[:MOST_CALLS]
            ),
        ),
        tokens,
    )


def _stop_of(calls: Sequence[ToolCall], stop: StopReason, *, all_named: bool) -> StopReason:
    """Whole only if each call has its name and arguments, and there is one where the API says so."""
    if stop not in {StopReason.END, StopReason.TOOL} or (not calls and all_named and stop is StopReason.END):
        return stop
    whole_calls = bool(calls) and all_named and all("" not in call.arguments for call in calls)
    return StopReason.TOOL if whole_calls else StopReason.MALFORMED


def whole(ended: bool) -> None:  # noqa: FBT001 - a question with one answer
    """Raises ModelFault unless a stream ended properly."""
    if not ended:
        raise nonsense("the response ends in the middle")
