"""One task file in OSWorld's format, and the Task that it becomes."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from backend.domain.task import (
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


def _none_if_empty(value: Any) -> Any:
    return None if value in ({}, []) else value


def _corrected(value: Any) -> Any:
    """Four published tasks write `type:` for `type`."""
    if isinstance(value, dict) and "type:" in value:
        return {("type" if key == "type:" else key): part for key, part in value.items()}
    return value


class _Loose(BaseModel):
    """Upstream files carry comments and dead fields; they stay in `raw`."""

    model_config = ConfigDict(frozen=True, extra="allow")


class _GetterSpec(_Loose):
    type: str = Field(min_length=1)


class _Step(_Loose):
    type: str = Field(min_length=1)
    parameters: dict[str, Any] = Field(default_factory=dict)


Spec = Annotated[_GetterSpec | None, BeforeValidator(lambda value: _none_if_empty(_corrected(value)))]


class _Evaluator(_Loose):
    func: str | list[str]
    conj: str = Field(default="and", pattern="^(and|or)$")
    result: Annotated[Any, BeforeValidator(_none_if_empty)] = None
    expected: Annotated[Any, BeforeValidator(_none_if_empty)] = None
    options: Any = None
    postconfig: list[_Step] = Field(default_factory=list)

    @model_validator(mode="after")
    def _same_lengths(self) -> Self:
        if isinstance(self.func, list):
            if not self.func:
                raise ValueError("`func` is an empty list")
            for key in ("result", "expected", "options"):
                value = getattr(self, key)
                if value is not None and (not isinstance(value, list) or len(value) != len(self.func)):
                    raise ValueError(f"`func` is a list of {len(self.func)}, so `{key}` must be one of the same length")
        return self


class _Metric(BaseModel):
    """One metric call, picked out of the evaluator's parallel lists."""

    result: Spec = None
    expected: Spec = None
    options: dict[str, Any] | None = None


class TaskFile(_Loose):
    """What is read of a task file; the keys from `difficulty` on are ours."""

    id: str = Field(min_length=1)
    instruction: str = Field(min_length=1, max_length=20_000)
    config: list[_Step] = Field(default_factory=list)
    evaluator: _Evaluator
    related_apps: list[str] = Field(default_factory=list)
    difficulty: Difficulty | None = None
    difficulty_source: DifficultySource | None = None
    level: str | None = None
    requires: list[str] = Field(default_factory=list)
    max_steps: int | None = Field(default=None, ge=1, le=1000)
    oracle: list[dict[str, Any]] | None = None

    @model_validator(mode="after")
    def _sourced(self) -> Self:
        if self.difficulty is not None and self.difficulty_source is None:
            raise ValueError("a `difficulty` needs its `difficulty_source`: who says so?")
        return self


def to_task(file: TaskFile, raw: Mapping[str, JSON], key: TaskKey, dialect: str) -> Task:
    """The task of a file. Raises pydantic's ValidationError for a wrong metric call."""
    evaluator = EvaluatorSpec(
        calls=_calls(file.evaluator), conj=file.evaluator.conj, postconfig=_steps(file.evaluator.postconfig)
    )
    return Task(
        key=key,
        dialect=dialect,
        instruction=file.instruction,
        setup=_steps(file.config),
        evaluator=evaluator,
        labels=Labels(
            apps=tuple(dict.fromkeys(_app(name) for name in file.related_apps)),
            requires=tuple(file.requires),
            difficulty=file.difficulty,
            difficulty_source=file.difficulty_source,
            level=file.level,
            feasible=not evaluator.infeasible,
        ),
        oracle=None if file.oracle is None else tuple(file.oracle),
        max_steps=file.max_steps,
        raw=raw,
    )


def _steps(steps: Sequence[_Step]) -> tuple[SetupStep, ...]:
    return tuple(SetupStep(type=step.type, parameters=step.parameters) for step in steps)


def _calls(evaluator: _Evaluator) -> tuple[MetricCall, ...]:
    several = isinstance(evaluator.func, list)
    names = evaluator.func if isinstance(evaluator.func, list) else [evaluator.func]

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


def _app(name: str) -> str:
    """Spellings of one application are one application: `libreoffice-calc`, `LibreOffice Calc`."""
    return name.strip().lower().replace("-", "_").replace(" ", "_")
