"""Port of language models: requests, replies, clients."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Literal, Protocol

from pydantic import Field

from backend.domain.model.task import Frozen
from backend.domain.model.trajectory import Frame, SafetyCheck, Usage


class ToolCall(Frozen):
    """A model's call of a tool.

    Attributes:
        id: id for returning its result; ours if the API has none.
        name: of the tool.
        arguments: decoded; `{"": text}` where they were no JSON object.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] = Field(default_factory=dict)


class MessagePart(Frozen):
    """One piece of a message; exactly one of its fields is set.

    Attributes:
        text: words.
        image: a picture.
        call: a tool call of an earlier reply.
        result: (id of the call, text); pictures that belong to it follow as parts of their own.
        failed: the result is of a call that was not carried out.
        raw: the turn as an API gave it, with the parts to return unchanged (signed reasoning); its API is its key
            `api`. For the same API, only this raw turn is sent: it contains the words and calls.
    """

    text: str | None = None
    image: Frame | None = None
    call: ToolCall | None = None
    result: tuple[str, str] | None = None
    failed: bool = False
    raw: Mapping[str, Any] | None = None


class Message(Frozen):
    """One turn of a conversation with a model."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[MessagePart, ...]


class Tool(Frozen):
    """A tool that is offered to the model.

    Attributes:
        name: as the model calls it.
        about: what it does.
        schema_: JSON schema of its arguments; empty for a vendor's own tool.
        vendor: a vendor's own tool in its API's format (`{"type": "computer_20250124", ...}`), sent unchanged.
    """

    name: str
    about: str = ""
    schema_: Mapping[str, Any] = Field(default_factory=dict)
    vendor: Mapping[str, Any] | None = None


class ModelRequest(Frozen):
    """One call. Its client omits settings that the API does not support, and lists them in the reply's `dropped`.

    Attributes:
        messages: oldest first; a system message only at the front.
        temperature, top_p, max_tokens, seed, stop: sampling; None = the API's default.
        extra: further fields of the API's own, for example reasoning effort.
    """

    model: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    extra: Mapping[str, Any] = Field(default_factory=dict)


class StopReason(StrEnum):
    """Why a reply ended. Only a reply that ended by `end` or `tool` may be carried out.

    Attributes:
        END: the model ended its turn.
        TOOL: the model calls tools.
        LENGTH: cut off at the most tokens, or at the model's context.
        REFUSAL: the model refused, or a filter of its vendor did.
        PAUSE: the API paused or compacts the turn, or has only queued it.
        MALFORMED: a call of a tool could not be read.
        UNCLEAR: any reason that we do not know, or none.
    """

    END = "end"
    TOOL = "tool"
    LENGTH = "length"
    REFUSAL = "refusal"
    PAUSE = "pause"
    MALFORMED = "malformed"
    UNCLEAR = "unclear"

    @classmethod
    def _missing_(cls, value: object) -> "StopReason":  # noqa: ARG003 - any other one is unclear.
        return cls.UNCLEAR


_PROBLEMS = {
    StopReason.LENGTH: "the reply was cut off at its maximum length. Answer more briefly.",
    StopReason.REFUSAL: "the model refused to answer",
    StopReason.PAUSE: "the model's API paused before the reply was complete. Answer again.",
    StopReason.MALFORMED: "a call of a tool in the reply could not be read. Answer again.",
    StopReason.UNCLEAR: "the model's API did not say that the reply is complete. Answer again.",
}


class ModelReply(Frozen):
    """A model's reply, bounded by the client (text 1 MiB, 64 calls).

    Attributes:
        text: all words of the answer, without reasoning that the model marked in its text.
        calls: tool calls, in order.
        thinking: the reasoning that the API shows, or that the model marked in its text.
        raw: parts to return unchanged with the next request, if the API requires it.
        stop: why it ended.
        model: the answering model's name in the API, with its date if given.
        dropped: fields of the request that the API does not know.
        safety_checks: that ask for consent before its calls are carried out.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    thinking: str = ""
    raw: tuple[Mapping[str, Any], ...] = ()
    stop: StopReason = StopReason.END
    model: str = ""
    usage: Usage = Usage()
    dropped: tuple[str, ...] = ()
    safety_checks: tuple[SafetyCheck, ...] = ()

    @property
    def problem(self) -> str:
        """Why nothing of the reply may be carried out, as the model is told; empty if it is complete."""
        return _PROBLEMS.get(self.stop, "")


class ModelClient(Protocol):
    """Speaks one API (`openai_chat`, `openai_responses`, `anthropic`, `gemini`, `recorded`), one file each.

    Plug-ins of kind MODEL in `worker/models/`. Safe to use from several threads.
    """

    api: str

    def complete(self, request: ModelRequest, *, on_text: Callable[[str], None] | None = None) -> ModelReply:
        """Sends the request and waits. With `on_text`, streams the text to it.

        Waits through 429, 5xx, broken connections and quota with growing pauses or as Retry-After says; the seconds
        waited are the reply's `usage.wait_seconds`, and count nowhere else. After a break the words come from the
        beginning: only the final reply counts. A malformed reply is requested again, at most twice.

        Raises:
            ModelApiFailed: the API gave no answer within the endpoint's patience, refuses our key, does not know the
                model, or answers with garbage. Messages never contain the key.
            Invalid: the request itself is wrong (for example too long); its text is the API's, bounded.
        """
        ...


class Models(Protocol):
    """The model clients of one attempt."""

    def client(self, endpoint: str) -> ModelClient:
        """The client of an endpoint that the operator configured (docs/models.md), or one of the built-in ones.

        Raises:
            ModelApiFailed: the endpoint does not exist here, or its key is missing; the message says where to put it.
        """
        ...

    def wait_seconds(self) -> float:
        """Seconds this attempt has waited for APIs so far, the wait under way included. Cheap; any thread.

        A request counts as waiting until its answer is there: only then is it known that the model was thinking and
        the API did not hang. So it can go down by the time that an answer took.
        """
        ...

    def close(self) -> None:
        """Ends all waiting and closes all connections. Called by the worker once the agent is done."""
        ...


NO_CALLS: Sequence[ToolCall] = ()
