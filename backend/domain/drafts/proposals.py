"""Drafts proposed by a model for a persona: the request, and strict parsing of the answer.

WindowsWorld made its tasks from personas. A model's draft is marked, must be tried like any other, and counts only once
people have approved it.
"""

import json
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, ValidationError

from backend.domain.drafts.content import NAME, DraftContent, read_content
from backend.domain.errors import Invalid
from backend.domain.model.task import Difficulty, Frozen, MetricCall, SetupStep, digest
from backend.domain.model.validation_words import problem_words
from backend.domain.ports.model import Message, MessagePart, ModelRequest

MOST = 20
MOST_CHARACTERS = 200_000
_SHOWN = 400
_SYSTEM = """You write tasks that measure agents which use a Linux desktop with mouse and keyboard.
A task is one instruction as its persona would say it, the state of the desktop before it, and a check of what is left.
Rules:
- The instruction names files, numbers and texts exactly. No words of taste, nothing that only its author could decide.
- Set-up says what is there: files that are created, programs that are started.
- The check looks at what is left behind (a file, a setting), never at how it was done. Doing nothing must not pass it.
- Only programs and names from the lists below. No accounts, no payments, no network.
- No two tasks alike.
Answer with JSON only: {"drafts": [...]}. Each draft has exactly these keys: "domain" and "name" (letters, digits, dot,
dash, underscore), "instruction", "apps" (list), "requires" (list of programs), "difficulty" (easy, medium or hard),
"setup" (list of {"type", "parameters"}), "checks" (list of {"func", "result": {"type", ...}, "expected": {"type", ...},
"options": {}})."""
_EXAMPLE = {
    "drafts": [
        {
            "domain": "editor",
            "name": "add_milk",
            "instruction": 'Add the item "milk" as a new last line to shopping.txt in Documents and save the file.',
            "apps": ["text_editor"],
            "requires": ["mousepad"],
            "difficulty": "easy",
            "setup": [
                {
                    "type": "create_file",
                    "parameters": {"path": "/home/user/Documents/shopping.txt", "content": "bread\n"},
                }
            ],
            "checks": [
                {
                    "func": "exact_match",
                    "result": {"type": "vm_command_line", "command": ["cat", "/home/user/Documents/shopping.txt"]},
                    "expected": {"type": "rule", "rules": {"expected": "bread\nmilk\n"}},
                    "options": {},
                }
            ],
        }
    ]
}
Key = Annotated[str, Field(pattern=NAME)]
Words = Annotated[str, Field(min_length=1, max_length=200)]


class Proposal(Frozen):
    """One draft in the required form; missing and additional keys are rejected."""

    domain: Key
    name: Key
    instruction: str = Field(min_length=1, max_length=2000)
    apps: tuple[Words, ...] = Field(max_length=10)
    requires: tuple[Words, ...] = Field(max_length=10)
    difficulty: Difficulty
    setup: tuple[SetupStep, ...] = Field(max_length=20)
    checks: tuple[MetricCall, ...] = Field(min_length=1, max_length=10)


class Proposals(Frozen):
    """A model's whole answer."""

    drafts: tuple[Proposal, ...] = Field(min_length=1, max_length=MOST)


class ProposalRequest(Frozen):
    """The request for proposals.

    Attributes:
        programs: programs on the desktops; setup, getters, metrics: names that a task may use.
    """

    persona: str = Field(min_length=1, max_length=2000)
    count: int = Field(ge=1, le=MOST)
    model: str
    temperature: float | None = None
    programs: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    getters: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()


def request_of(request: ProposalRequest) -> ModelRequest:
    """The single request that is sent to the model."""
    lists = (
        ("Programs", request.programs),
        ("Set-up steps", request.setup),
        ("Getters", request.getters),
        ("Metrics", request.metrics),
    )
    catalogue = "\n".join(f"{title}: {', '.join(names[:_SHOWN]) or 'none'}" for title, names in lists)
    example = f"An answer looks like this:\n{json.dumps(_EXAMPLE)}"
    prompt = f"{catalogue}\n\n{example}\n\nPersona: {request.persona}\nTasks: {request.count}"
    return ModelRequest(
        model=request.model,
        messages=(
            Message(role="system", parts=(MessagePart(text=_SYSTEM),)),
            Message(role="user", parts=(MessagePart(text=prompt),)),
        ),
        temperature=request.temperature,
    )


def prompt_hash(request: ModelRequest) -> str:
    """Sha256 (hex) of the whole request, including its sampling."""
    return digest(request.model_dump(mode="json"))


def read_proposals(text: str) -> list[DraftContent]:
    """The drafts of an answer; a Markdown fence around it is ignored.

    Raises:
        Invalid: the answer is not JSON, not in the required form, or invalid as a draft; the message says where.
    """
    if len(text) > MOST_CHARACTERS:
        raise Invalid(f"the answer is longer than {MOST_CHARACTERS} characters", code="invalid_model_answer")
    try:
        proposals = Proposals.model_validate(json.loads(_bare(text)))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise Invalid(
            problem_words(first), code="invalid_model_answer", path=".".join(map(str, first["loc"]))[:300]
        ) from None
    except (ValueError, RecursionError) as error:
        raise Invalid(f"the answer is not JSON: {str(error)[:200]}", code="invalid_model_answer") from None
    return [_content(draft) for draft in proposals.drafts]


def _content(proposal: Proposal) -> DraftContent:
    return read_content(proposal.model_dump())


def _bare(text: str) -> str:
    lines = text.strip().splitlines()
    if len(lines) > 1 and lines[0].startswith("```") and lines[-1].strip() == "```":
        return "\n".join(lines[1:-1])
    return text


def summary(keys: Sequence[str], refused: Sequence[str]) -> str:
    """The fate of the proposals, as text for the requesting person."""
    text = f"wrote {', '.join(keys)}" if keys else "wrote nothing"
    return f"{text}; left out: {'; '.join(refused)}" if refused else text
