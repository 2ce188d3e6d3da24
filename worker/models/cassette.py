"""Cassettes: files of model replies, one JSON object per line, recorded from an API or written by hand.

A line is `{"reply": ...}`, a ModelReply or only its text; optional keys are `"request"`, the key of the request that it
answers (`request_key`), and `"when"`, text that the request must contain.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from pydantic import Field, ValidationError, field_validator

from backend.domain.errors import Invalid, ModelApiFailed
from backend.domain.model.reasoning import split_reasoning
from backend.domain.model.task import Frozen
from backend.domain.model.trajectory import Usage
from backend.domain.model.validation_words import problem_words
from backend.domain.ports.model import MessagePart, ModelClient, ModelReply, ModelRequest

MOST_BYTES = 64 * 2**20
_writing = Lock()


class CassetteEntry(Frozen):
    """One line of a cassette."""

    reply: ModelReply
    request: str = Field(default="", pattern=r"^([0-9a-f]{64})?$")
    when: str = ""

    @field_validator("reply", mode="before")
    @classmethod
    def only_text(cls, value: Any) -> Any:
        """Converts a text, with the reasoning that is marked in it, to a reply."""
        if not isinstance(value, str):
            return value
        parts = split_reasoning(value)
        return ModelReply(text=parts.answer, thinking=parts.reasoning, usage=Usage(calls=1))


def words_of(request: ModelRequest) -> str:
    """Text of a request without pictures: screens differ by a clock, the text does not."""
    return "\n".join(f"{message.role}: {_part(part)}" for message in request.messages for part in message.parts)


def request_key(request: ModelRequest) -> str:
    """SHA-256 of the request's text and its tools' names."""
    content = {"words": words_of(request), "tools": [tool.name for tool in request.tools]}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode(errors="replace")).hexdigest()


def _part(part: MessagePart) -> str:
    if part.image is not None:
        return "[picture]"
    if part.call is not None:
        return f"[{part.call.name} {json.dumps(dict(part.call.arguments), sort_keys=True)}]"
    if part.result is not None:
        return f"[result {part.result[1]}]"
    return part.text or "[raw]"


def lines_of(file: Path) -> Sequence[CassetteEntry]:
    """Lines of a cassette.

    Raises:
        ModelApiFailed: it cannot be read, or a line is invalid; the message says which.
    """
    try:
        with file.open("rb") as opened:
            data = opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise ModelApiFailed(
            f"the cassette {file} cannot be read: {error.strerror}", code="cassette_invalid"
        ) from error
    if len(data) > MOST_BYTES:
        raise ModelApiFailed(f"the cassette {file} is larger than {MOST_BYTES} bytes", code="cassette_invalid")
    lines = []
    for number, line in enumerate(data.decode(errors="replace").splitlines(), 1):
        if not line.strip():
            continue
        try:
            lines.append(CassetteEntry.model_validate_json(line))
        except ValidationError as error:
            words = problem_words(error.errors(include_url=False, include_input=False)[0])
            raise ModelApiFailed(f"the cassette {file}, line {number}: {words}", code="cassette_invalid") from None
    return lines


class RecordingClient:
    """A client that appends each reply of another one to a cassette."""

    def __init__(self, client: ModelClient, file: Path) -> None:
        """Args: client: client to call; file: cassette to append to."""
        self.api = client.api
        self._client = client
        self._file = file

    def complete(self, request: ModelRequest, *, on_text: Callable[[str], None] | None = None) -> ModelReply:
        """See the port. Raises Invalid if the file cannot be written: a cassette with a gap is useless."""
        reply = self._client.complete(request, on_text=on_text)
        line: Mapping[str, Any] = {"request": request_key(request), "reply": reply.model_dump(mode="json")}
        try:
            with _writing, self._file.open("a") as opened:
                opened.write(json.dumps(line, ensure_ascii=False) + "\n")
        except OSError as error:
            raise Invalid(
                f"the reply cannot be recorded in {self._file}: {error.strerror}", code="cassette_not_usable"
            ) from error
        return reply
