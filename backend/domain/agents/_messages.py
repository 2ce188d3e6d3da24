"""Messages to a model: built from texts and pictures, measured in tokens, and shown to people without the pictures."""

import re
from collections.abc import Sequence
from typing import Literal

from backend.domain.model.trajectory import Frame
from backend.domain.ports.model import Message, MessagePart, ModelReply
from backend.domain.screen.tree import estimated_tokens

MOST_PROMPT = 200_000
"""Maximum characters of a prompt that a step stores."""
MOST_WORDS = 4_000
MOST_REASONING = 100_000
"""Maximum characters of the reasoning that a step stores."""
PICTURE_TOKENS = 1_500
"""Estimated tokens of a picture; vendors charge between about 250 and 2,500 for a screen."""
_BLOCK = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)


def message(role: Literal["system", "user", "assistant"], *parts: str | Frame | MessagePart | None) -> Message:
    """A message of these parts; None and empty texts are left out."""
    return Message(role=role, parts=tuple(_part(part) for part in parts if part is not None and part != ""))  # noqa: PLC1901 - a MessagePart is no text.


def _part(value: str | Frame | MessagePart) -> MessagePart:
    if isinstance(value, str):
        return MessagePart(text=value)
    return MessagePart(image=value) if isinstance(value, Frame) else value


def reply_message(reply: ModelReply, *, empty: str = "(no answer)") -> Message:
    """A model's own turn, sent back to it: the parts that its API requires unchanged, its text, its calls."""
    parts = [MessagePart(raw=raw) for raw in reply.raw]
    if reply.text.strip() or not (reply.calls or parts):
        parts.append(MessagePart(text=reply.text.strip() or empty))
    return Message(role="assistant", parts=(*parts, *(MessagePart(call=call) for call in reply.calls)))


def message_tokens(messages: Sequence[Message]) -> int:
    """Approximate number of tokens."""
    return sum(_part_tokens(part) for message in messages for part in message.parts)


def _part_tokens(part: MessagePart) -> int:
    return PICTURE_TOKENS if part.image is not None else estimated_tokens(_part_words(part))


def prompt_text(messages: Sequence[Message]) -> str:
    """The prompt for people: texts up to MOST_PROMPT characters, a line in place of each picture."""
    turns = [f"# {message.role}\n\n" + "\n\n".join(_part_words(part) for part in message.parts) for message in messages]
    text = "\n\n".join(turns)
    return (
        text
        if len(text) <= MOST_PROMPT
        else f"{text[:MOST_PROMPT]}\n[... {len(text) - MOST_PROMPT} further characters]"
    )


def _part_words(part: MessagePart) -> str:
    if part.text is not None:
        return part.text
    if part.image is not None:
        return f"[picture, {part.image.width}x{part.image.height}, {part.image.media_type}]"
    if part.call is not None:
        return f"[call {part.call.id}: {part.call.name} {dict(part.call.arguments)}]"
    if part.result is not None:
        return f"[result of {part.result[0]}: {part.result[1]}]"
    return "[reasoning, given back unread]"


def words_of(reply: ModelReply) -> str:
    """The reply's text without its code blocks; else its reasoning, else its calls."""
    plain = _BLOCK.sub("", reply.text).strip()
    called = ", ".join(call.name for call in reply.calls)
    words = plain or reply.thinking.strip() or (f"calls {called}" if called else reply.text.strip())
    return words[:MOST_WORDS] or "The model gave no words."
