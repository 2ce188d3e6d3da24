"""The content of a draft, and its conversion to a task."""

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
from backend.domain.model.validation_words import problem_words

MOST_BYTES = 256 * 1024
DIALECT = "starter"
NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
_NAMING = {"setup", "checks", "postconfig"}
"""Fields that may name a file."""
Word = Annotated[str, Field(min_length=1, max_length=200)]


class DraftContent(Frozen):
    """One version of a draft. Only the key is required.

    Attributes:
        domain, name: the key that the task will have.
        dialect: dialect of its set-up steps, getters and metrics.
        feasible: False: the correct answer is FAIL, and there are no checks.
        setup: steps that prepare the desktop.
        checks: metric calls on the end state, joined by `conj`.
        postconfig: steps that run before evidence is collected.
        oracle: the solution, in the format of `agents/_oracle_steps.py` reads it.
        assets: sha256 of the files that steps and getters name as `asset:NAME`; names are local to the draft.
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
        """Sha256 (hex) of the whole content, which identifies the version that was tried and reviewed."""
        return digest(self.model_dump(mode="json"))


def read_content(value: Any) -> DraftContent:
    """Reads a draft's content from submitted JSON.

    Raises:
        Invalid: the content is wrong or too large; the message says where.
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
        raise Invalid(
            problem_words(first), code="invalid_draft", path=".".join(map(str, first["loc"]))[:300]
        ) from error


def assets_of(content: DraftContent) -> dict[str, str]:
    """Sha256 of a draft's files by names that are unique in a task set."""
    return {f"{content.key}/{name}": sha256 for name, sha256 in content.assets.items()}


def task_of(draft: DraftContent) -> Task:
    """The task of a draft. A draft without a check, or an infeasible one, is judged by the FAIL rule."""
    content = _with_asset_paths(draft)
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


def _with_asset_paths(content: DraftContent) -> DraftContent:
    """The content with file names as in `assets_of`."""
    if not content.assets:
        return content
    names = {f"{ASSET}{name}": f"{ASSET}{content.key}/{name}" for name in content.assets}
    return DraftContent.model_validate({**content.model_dump(), **_rename(content.model_dump(include=_NAMING), names)})


def _rename(value: JSON, names: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, Mapping):
        return {key: _rename(part, names) for key, part in value.items()}
    return [_rename(part, names) for part in value] if isinstance(value, list | tuple) else value


def missing(content: DraftContent) -> list[str]:
    """Parts that a draft still lacks before it can be tried."""
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
