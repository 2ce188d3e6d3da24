"""One task file in OSWorld's format, and its conversion to a Task."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from shlex import shlex
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, model_validator

from backend.domain.benchmarks._labels import PLAIN, Suite, app_of, difficulty_of, extra_of, unknown_label
from backend.domain.machines.applications import ApplicationNeeds, needs_of
from backend.domain.model.task import (
    JSON,
    Difficulty,
    DifficultySource,
    EvaluatorSpec,
    Labels,
    MetricCall,
    SetupStep,
    Task,
    TaskKey,
)

__all__ = ["PLAIN", "EvaluatorFields", "Suite", "TaskFile", "Word", "calls_of", "to_task"]

_RUNNING = frozenset({"launch", "execute", "command"})
_ASSIGNMENT, _PARTING = re.compile(r"\w+="), frozenset("|&;(")
_MOST_COMMAND = 20_000
"""Characters of a command in which programs are looked for."""
_OFFICE = {".docx": "word", ".xlsx": "excel", ".pptx": "powerpoint"}
Word = Annotated[str, Field(min_length=1, max_length=200)]


def _none_if_empty(value: Any) -> Any:
    return None if value in ({}, []) else value


def _without_notes(value: Any) -> Any:
    """An object without upstream's comments (`_note`), with its four misspelled `type:` corrected; `raw` keeps both."""
    if not isinstance(value, dict):
        return value
    plain = {key: part for key, part in value.items() if not key.startswith("_")}
    if "type:" in plain:
        plain.setdefault("type", plain["type:"])
        del plain["type:"]
    return plain


def _getter(value: Any) -> Any:
    spec = _none_if_empty(_without_notes(value))
    if isinstance(spec, dict) and "rules" in spec:
        return {**spec, "rules": _without_notes(spec["rules"])}
    return spec


class _Loose(BaseModel):
    """Ignores unknown keys: upstream files carry comments and dead fields, which stay in `raw`."""

    model_config = ConfigDict(frozen=True, extra="allow")


class _GetterSpec(_Loose):
    type: Word


class _Step(_Loose):
    type: Word
    parameters: Annotated[dict[str, Any], BeforeValidator(_without_notes)] = Field(default_factory=dict)


Spec = Annotated[_GetterSpec | None, BeforeValidator(_getter)]
Options = Annotated[dict[str, Any] | None, BeforeValidator(_without_notes)]


class EvaluatorFields(_Loose):
    """Metric calls in parallel lists, as the files have them; formats with parts may omit them (`needs_func`)."""

    needs_func: ClassVar[bool] = True
    func: Word | Annotated[list[Word], Field(max_length=50)] | None
    conj: str = Field(default="and", pattern="^(and|or)$")
    result: Annotated[Any, BeforeValidator(_none_if_empty)] = None
    expected: Annotated[Any, BeforeValidator(_none_if_empty)] = None
    options: Any = None
    postconfig: list[_Step] = Field(default_factory=list, max_length=500)

    @model_validator(mode="after")
    def _same_lengths(self) -> Self:
        if self.func is None and self.needs_func:
            raise ValueError("`func` is missing: which metric judges?")
        if isinstance(self.func, list):
            if not self.func:
                raise ValueError("`func` is an empty list")
            for key in ("result", "expected", "options"):
                value = getattr(self, key)
                if value is not None and (not isinstance(value, list) or len(value) != len(self.func)):
                    raise ValueError(f"`func` is a list of {len(self.func)}, so `{key}` must be one of the same length")
        return self


class _Metric(BaseModel):
    """One metric call, extracted from the evaluator's parallel lists."""

    result: Spec = None
    expected: Spec = None
    options: Options = None


class TaskFile(_Loose):
    """The fields of a task file that are read; the keys from `difficulty` on are ours."""

    id: str = Field(min_length=1, max_length=500)
    instruction: str = Field(min_length=1, max_length=20_000)
    config: list[_Step] = Field(default_factory=list, max_length=500)
    evaluator: EvaluatorFields
    related_apps: list[Annotated[str, Field(max_length=200)]] = Field(default_factory=list, max_length=100)
    snapshot: str | None = Field(default=None, max_length=500)
    source: str | list[str] | None = None
    proxy: StrictBool = False
    fixed_ip: StrictBool = False
    possibility_of_env_change: Literal["low", "medium", "high"] | None = None
    env_may_change: StrictBool = False
    difficulty: Difficulty | None = None
    difficulty_source: DifficultySource | None = None
    level: str | None = Field(default=None, max_length=100)
    requires: list[Word] = Field(default_factory=list, max_length=100)
    os: Literal["linux", "windows"] | None = None
    licences: dict[Word, Annotated[int, Field(ge=1, le=1000)]] = Field(default_factory=dict, max_length=20)
    max_steps: int | None = Field(default=None, ge=1, le=1000)
    oracle: list[dict[str, Any]] | None = None

    @model_validator(mode="after")
    def _check_source(self) -> Self:
        if self.difficulty is not None and self.difficulty_source is None:
            raise ValueError("a `difficulty` needs its `difficulty_source`: who says so?")
        return self


def to_task(file: TaskFile, raw: Mapping[str, JSON], key: TaskKey, dialect: str, suite: Suite = PLAIN) -> Task:
    """The task of a file. Raises pydantic's ValidationError for a wrong metric call."""
    task = Task(
        key=key,
        dialect=dialect,
        instruction=file.instruction,
        setup=_steps(file.config),
        evaluator=EvaluatorSpec(
            calls=calls_of(file.evaluator), conj=file.evaluator.conj, postconfig=_steps(file.evaluator.postconfig)
        ),
        oracle=None if file.oracle is None else tuple(file.oracle),
        max_steps=file.max_steps,
        raw=raw,
    )
    return task.model_copy(update={"labels": _labels(file, raw, task, suite)})


def _labels(file: TaskFile, raw: Mapping[str, JSON], task: Task, suite: Suite) -> Labels:
    difficulty, source = file.difficulty, file.difficulty_source
    if difficulty is None:
        difficulty, source = difficulty_of(suite, task.key.domain)
    apps = [app_of(name, synonyms=suite is not PLAIN) for name in file.related_apps]
    system = file.os or suite.os
    named = apps or _documents(task.setup) or [task.key.domain]
    follows = suite.by_app and not file.requires
    needs = needs_of(named, system, programs_run(task, system)) if follows else ApplicationNeeds()
    return Labels(
        apps=tuple(dict.fromkeys(apps)),
        requires=(*dict.fromkeys(file.requires), *needs.commands),
        difficulty=difficulty,
        difficulty_source=source,
        level=file.level,
        licences={**needs.licences, **file.licences},
        os=system,
        feasible=not task.evaluator.infeasible,
        extra={} if suite is PLAIN else {**extra_of(task, suite, raw), **unknown_label(needs)},
    )


def programs_run(task: Task, system: str) -> list[str]:
    """First words of what set-up and evaluation run on the desktop: the task cannot begin or be judged without it."""
    steps = [step for step in (*task.setup, *task.evaluator.postconfig) if step.type in _RUNNING]
    return [word for step in steps for word in _first_words(step.parameters.get("command"), system)]


def _first_words(command: object, system: str) -> list[str]:
    """Programs that a command runs: its first word; for a shell's text, the first word of each command."""
    if isinstance(command, list):
        return [str(word) for word in command[:1]]
    if not isinstance(command, str):
        return []
    # Of a text that no task has, whole words of its beginning: each letter takes a microsecond.
    text = command if len(command) <= _MOST_COMMAND else command[:_MOST_COMMAND].rsplit(maxsplit=1)[0]
    words = []
    for line in text.splitlines():
        lexer = shlex(line, posix=True, punctuation_chars=True)
        lexer.escape = "" if system == "windows" else lexer.escape
        first = True
        with suppress(ValueError):  # A quotation that goes on in the next line.
            for word in lexer:
                words += [word] if first and not _ASSIGNMENT.match(word) else []
                first = set(word) <= _PARTING or (first and _ASSIGNMENT.match(word) is not None)
    return words


def _documents(setup: Sequence[SetupStep]) -> list[str]:
    """Applications of the office documents that set-up prepares, for files that name no application."""
    files = json.dumps([step.parameters for step in setup]).lower()
    return [app for ending, app in _OFFICE.items() if f'{ending}"' in files]


def _steps(steps: Sequence[_Step]) -> tuple[SetupStep, ...]:
    return tuple(SetupStep(type=step.type, parameters=step.parameters) for step in steps)


def calls_of(evaluator: EvaluatorFields) -> tuple[MetricCall, ...]:
    """The metric calls of an evaluator. Raises pydantic's ValidationError for a wrong one."""
    several = isinstance(evaluator.func, list)
    names = evaluator.func if isinstance(evaluator.func, list) else [evaluator.func] if evaluator.func else []

    def part(value: Any, position: int) -> Any:
        return value[position] if several and value is not None else value

    calls = []
    for position, name in enumerate(names):
        call = _Metric.model_validate(
            {key: part(getattr(evaluator, key), position) for key in ("result", "expected", "options")}
        )
        calls.append(
            MetricCall(
                func=name,
                result=None if call.result is None else call.result.model_dump(),
                expected=None if call.expected is None else call.expected.model_dump(),
                options=call.options or {},
            )
        )
    return tuple(calls)
