"""Parses a judge's answer: exactly one verdict for every listed criterion."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, ValidationError

from backend.domain.judging.criteria import Criterion
from backend.domain.model.task import Frozen
from backend.domain.model.validation_words import problem_words
from backend.domain.ports.model import ModelReply, Tool

TOOL = "give_verdicts"
MAX_REASON = 1000
_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)


class BrokenReply(Exception):  # noqa: N818 - named after what it says.
    """An unusable answer; the message tells the model how to correct it.

    Attributes:
        code: stable name of the case.
    """

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


class CriterionVerdict(Frozen):
    """One answer's verdict on one criterion.

    Attributes:
        reached: whether the criterion is met.
        step: number of the step after which it was first met; None if it is not met or not given.
        reason: the reason, bounded in length.
    """

    name: str
    reached: bool
    step: int | None = None
    reason: str = ""


class _CriterionReply(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: StrictStr
    reached: StrictBool
    step: StrictInt | None
    reason: StrictStr = Field(min_length=1)


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")

    verdicts: list[_CriterionReply]


def verdict_tool(criteria: Sequence[Criterion]) -> Tool:
    """The format of an answer, as a tool with a JSON schema."""
    fields: dict[str, Any] = {
        "name": {"type": "string", "enum": [criterion.name for criterion in criteria]},
        "reached": {"type": "boolean"},
        "step": {"type": ["integer", "null"], "description": "number of the step after which it was first so"},
        "reason": {"type": "string", "description": "what on the pictures shows it, in one or two sentences"},
    }
    verdict = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    listed = {"type": "array", "items": verdict, "minItems": len(criteria), "maxItems": len(criteria)}
    schema = {
        "type": "object",
        "properties": {"verdicts": listed},
        "required": ["verdicts"],
        "additionalProperties": False,
    }
    return Tool(name=TOOL, about="Gives one verdict for each criterion.", schema_=schema)


def text_of(reply: ModelReply) -> str:
    """The part of a reply that is stored and parsed: the tool's arguments, else the text."""
    for call in reply.calls:
        if call.name == TOOL:
            return json.dumps(dict(call.arguments), ensure_ascii=False, default=str)
    return reply.text


def read_reply(text: str, criteria: Sequence[Criterion], last: int | None) -> tuple[CriterionVerdict, ...]:
    """The verdicts of an answer, in the order of the criteria.

    Args:
        text: the text from `text_of`.
        criteria: all listed criteria.
        last: number of the last step; None without steps.

    Raises:
        BrokenReply: the answer is malformed, omits or repeats a criterion, or names an unknown criterion or step.
    """
    try:
        answer = _Answer.model_validate(_object(text))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        path = ".".join(map(str, first["loc"])) or "the answer"
        raise BrokenReply(f"{path}: {problem_words(first)}", code="invalid_field") from None
    verdicts = {verdict.name: verdict for verdict in answer.verdicts}
    names = [criterion.name for criterion in criteria]
    _check_names([verdict.name for verdict in answer.verdicts], names)
    return tuple(_verdict(verdicts[name], last) for name in names)


def _object(text: str) -> Mapping[str, Any]:
    fenced = _FENCED.findall(text)
    try:
        value = json.loads(fenced[-1] if fenced else text)
    except (ValueError, RecursionError):
        raise BrokenReply("the answer is not one JSON object", code="not_json") from None
    if not isinstance(value, dict):
        raise BrokenReply("the answer is not one JSON object", code="not_json")
    return value


def _check_names(verdict_names: Sequence[str], listed: Sequence[str]) -> None:
    foreign = [name for name in verdict_names if name not in listed]
    missing = [name for name in listed if name not in verdict_names]
    twice = [name for name in listed if verdict_names.count(name) > 1]
    problems = (
        ("unknown_criterion", "not listed", foreign),
        ("criterion_missing", "without a verdict", missing),
        ("criterion_repeated", "judged twice", twice),
    )
    for code, words, names in problems:
        if names:
            raise BrokenReply(f"{words}: {', '.join(name[:100] for name in names[:10])}", code=code)


def _verdict(verdict: _CriterionReply, last: int | None) -> CriterionVerdict:
    """One verdict; the step is used only if the criterion is met."""
    step = verdict.step if verdict.reached else None
    if step is not None and (last is None or not 0 <= step <= last):
        message = "none was made" if last is None else f"there are 0 to {last}"
        raise BrokenReply(f"{verdict.name[:100]}: there is no step {step}; {message}", code="unknown_step")
    return CriterionVerdict(name=verdict.name, reached=verdict.reached, step=step, reason=verdict.reason[:MAX_REASON])
