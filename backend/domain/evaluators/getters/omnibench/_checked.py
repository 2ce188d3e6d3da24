"""Shared parts of getters of OmniBench's checks: their parameter, and the input since the part's start."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field, field_validator

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._evidence import as_json
from backend.domain.loop.interaction_log import log_after
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext

LONGEST = 4000


class Text(Parameters):
    """`text`: the text to search for; numbers are converted to text."""

    text: str = Field(min_length=1, max_length=LONGEST)

    @field_validator("text", mode="before")
    @classmethod
    def _digits(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def input_log_blob(context: SetupContext, kind: str) -> Blob:
    """All clicks, or all typed input, since the part became current; earlier input is ignored."""
    entries = [entry for entry in log_after(context.desktop, context.since) if entry.kind == kind]
    return as_json(
        f"{kind} since entry {context.since}", [entry.model_dump(exclude_defaults=True) for entry in entries]
    )


def two(blobs: Sequence[Blob]) -> tuple[Blob, Blob]:
    """The two blobs. Raises EvaluatorFailed for any other number."""
    if len(blobs) != 2:  # noqa: PLR2004 - two are two
        raise EvaluatorFailed(f"expected two pieces of evidence, got {len(blobs)}", code="evidence_mismatch")
    return blobs[0], blobs[1]


def search_text(parameters: Mapping[str, Any]) -> str:
    """The text to search for."""
    return Text.parse(parameters).text
