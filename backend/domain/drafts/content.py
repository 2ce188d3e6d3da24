"""What a draft of a task holds, and the task that it becomes."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, ValidationError

from backend.domain.errors import Invalid
from backend.domain.model.parameters import ASSET
from backend.domain.model.task import (
    JSON,
    Difficulty,
    DifficultySource,
    EvaluatorSpec,
    Frozen,
    Labels,
    MetricCall,
    SetupStep,
    Task,
    TaskKey,
    digest,
)

MOST_BYTES = 256 * 1024
DIALECT = "starter"
NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
_NAMING = {"setup", "checks", "postconfig"}
"""Fields in which a file may be named."""
Word = Annotated[str, Field(min_length=1, max_length=200)]


class DraftContent(Frozen):
    """One version of a draft. Everything but the key may still be missing.

    Attributes:
        domain, name: the key that the task will have.
        dialect: whose semantics names of set-up steps, getters and metrics have.
        feasible: False: right is to say that it cannot be done; there are no checks then.
        setup: steps that prepare the desktop.
        checks: metric calls on the state that is left, joined by `conj`.
        postconfig: steps that are run before the evidence is gathered.
        oracle: the solution, as `agents/_oracle_steps.py` reads it.
        assets: sha256 of the files that steps and getters name as `asset:NAME`; names are the draft's own.
    """

    domain: str = Field(pattern=NAME)
    name: str = Field(pattern=NAME)
    dialect: str = Field(default=DIALECT, pattern=r"^[a-z][a-z0-9_-]{0,49}$")
    instruction: str = Field(default="", max_length=20_000)
    apps: tuple[Word, ...] = Field(default=(), max_length=50)
    requires: tuple[Word, ...] = Field(default=(), max_length=50)
    difficulty: Difficulty | None = None
    level: str | None = Field(default=None, max_length=100)
    feasible: bool = True
    max_steps: int | None = Field(default=None, ge=1, le=1000)
    setup: tuple[SetupStep, ...] = Field(default=(), max_length=200)
    checks: tuple[MetricCall, ...] = Field(default=(), max_length=50)
    conj: str = Field(default="and", pattern="^(and|or)$")
    postconfig: tuple[SetupStep, ...] = Field(default=(), max_length=200)
    oracle: tuple[Mapping[str, JSON], ...] = Field(default=(), max_length=500)
    assets: Mapping[Word, Annotated[str, Field(pattern="^[0-9a-f]{64}$")]] = Field(default_factory=dict, max_length=100)

    @property
    def key(self) -> str:
        """`domain/name`, as pages and selections write it."""
        return f"{self.domain}/{self.name}"

    def content_hash(self) -> str:
        """Sha256 (hex) over the whole content: what was tried and reviewed is known by it."""
        return digest(self.model_dump(mode="json"))


def read_content(value: Any) -> DraftContent:
    """A draft's content from JSON that somebody sent.

    Raises:
        Invalid: says where it is wrong, or that it is too large.
    """
    try:
        data = json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise Invalid("it contains half a character (a lone surrogate)", code="invalid_draft") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise Invalid(f"not JSON: {str(error)[:200]}", code="invalid_draft") from error
    if len(data) > MOST_BYTES:
        raise Invalid(f"it is larger than {MOST_BYTES // 1024} KiB", code="invalid_draft")
    if b"\\u0000" in data.replace(b"\\\\", b""):  # An escaped backslash before u0000 is text.
        raise Invalid("it contains a NUL character", code="invalid_draft")
    try:
        return DraftContent.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise Invalid(first["msg"], code="invalid_draft", path=".".join(map(str, first["loc"]))[:300]) from error


def assets_of(content: DraftContent) -> dict[str, str]:
    """Sha256 of a draft's files by the names that they have in a task set, where no other task's can be meant."""
    return {f"{content.key}/{name}": sha256 for name, sha256 in content.assets.items()}


def task_of(draft: DraftContent) -> Task:
    """The task that a draft becomes. A draft without a check, or one that is infeasible, is judged by the FAIL rule."""
    content = _placed(draft)
    calls = content.checks if content.feasible and content.checks else (MetricCall(func="infeasible"),)
    difficulty = content.difficulty
    return Task(
        key=TaskKey(domain=content.domain, name=content.name),
        dialect=content.dialect,
        instruction=content.instruction,
        setup=content.setup,
        evaluator=EvaluatorSpec(calls=calls, conj=content.conj, postconfig=content.postconfig),
        labels=Labels(
            apps=content.apps,
            requires=content.requires,
            difficulty=difficulty,
            difficulty_source=None if difficulty is None else DifficultySource.AUTHOR,
            level=content.level,
            feasible=content.feasible,
        ),
        oracle=content.oracle or None,
        max_steps=content.max_steps,
    )


def _placed(content: DraftContent) -> DraftContent:
    """The same, naming its files as `assets_of` does."""
    if not content.assets:
        return content
    names = {f"{ASSET}{name}": f"{ASSET}{content.key}/{name}" for name in content.assets}
    return DraftContent.model_validate({**content.model_dump(), **_renamed(content.model_dump(include=_NAMING), names)})


def _renamed(value: JSON, names: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, Mapping):
        return {key: _renamed(part, names) for key, part in value.items()}
    return [_renamed(part, names) for part in value] if isinstance(value, list | tuple) else value


def missing(content: DraftContent) -> list[str]:
    """What a draft still lacks before a trial."""
    problems = []
    if not content.instruction.strip():
        problems.append("Missing: an instruction")
    if content.feasible and not content.checks:
        problems.append("Missing: a check")
    if content.feasible and not content.oracle:
        problems.append("Missing: a solution for the oracle")
    if not content.feasible and content.checks:
        problems.append("Infeasible tasks have no checks: remove them.")
    return problems
