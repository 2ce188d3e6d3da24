"""One of ProSoftArena's task files, and its conversion to a Task: WAA's schema with phases and metadata.

A long task has `evaluator.phases`: each with its name, its `weight` and metric calls in the evaluator's syntax. The
weights are the author's and add up to 1. Phases are chained as listed, unless one says with `after` which it needs.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Self

from pydantic import Field, StrictBool, model_validator

from backend.domain.benchmarks._labels import Suite, app_of, network_of, unknown_label
from backend.domain.benchmarks._osworld_task import EvaluatorFields, TaskFile, Word, calls_of, programs_run, to_task
from backend.domain.benchmarks._prosoft_metadata import Metadata
from backend.domain.benchmarks._prosoft_software import Software, key_of, versions_of
from backend.domain.errors import Invalid
from backend.domain.machines.applications import ApplicationNeeds, licence_of, needs_of
from backend.domain.model.task import JSON, DifficultySource, EvaluatorSpec, Labels, Part, PartKind, Task, TaskKey

PROTOCOL = "prosoftarena"
BUDGETS = {"L1": 35, "L2": 55, "L3": 100, "L4": 55}
"""Step budget by level. Protocols reference, section 3."""
_SUITE = Suite(name="prosoftarena", os="windows")


class Phase(EvaluatorFields):
    """One phase of a long task.

    Attributes:
        text: the required state at its end, as text.
        each_step: evaluated after each action; otherwise once, on the end state.
        after: names of the phases without which this one does not count, none if it is independent; None = the one
            listed before it.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9_.-]{1,100}$")
    weight: float = Field(gt=0.0, le=1.0)
    text: str = Field(default="", max_length=5000)
    app: str = Field(default="", max_length=100)
    each_step: StrictBool = False
    after: Annotated[list[Word], Field(max_length=50)] | None = None

    @model_validator(mode="after")
    def _plain(self) -> Self:
        if self.postconfig:
            raise ValueError("`postconfig` belongs to the whole evaluator, not to a phase")
        return self


class ProEvaluator(EvaluatorFields):
    """Metric calls on the end state, weighted phases, or both; with both, the end state is a precondition."""

    needs_func: ClassVar[bool] = False
    func: Word | Annotated[list[Word], Field(max_length=50)] | None = None
    phases: Annotated[list[Phase], Field(max_length=50)] = Field(default_factory=list)

    @model_validator(mode="after")
    def _weigh(self) -> Self:
        if self.func is None and not self.phases:
            raise ValueError("expected `func`, or `phases`")
        total = math.fsum(phase.weight for phase in self.phases)
        if self.phases and not math.isclose(total, 1.0, abs_tol=1e-6):
            weights = ", ".join(f"{phase.name} {phase.weight:g}" for phase in self.phases)
            raise ValueError(f"the weights of the phases add up to {total:g}, not to 1 ({weights})")
        return self


class ProTaskFile(TaskFile):
    """The fields of a task file that are read; metadata is read separately, so that damaged fields can be skipped."""

    evaluator: ProEvaluator


def to_pro_task(file: ProTaskFile, raw: Mapping[str, JSON], key: TaskKey, dialect: str, metadata: Metadata) -> Task:
    """The task of a file and its metadata.

    Raises:
        ValidationError: a metric call is invalid.
        Invalid: the phases are inconsistent.
    """
    task = to_task(file, raw, key, dialect, _SUITE)
    try:
        evaluator = EvaluatorSpec(
            calls=task.evaluator.calls,
            conj=task.evaluator.conj,
            postconfig=task.evaluator.postconfig,
            parts=_parts(file.evaluator),
            protocol=PROTOCOL,
        )
    except ValueError as error:
        raise Invalid(str(error), code="invalid_task_file", path="evaluator.phases") from error
    task = task.model_copy(update={"evaluator": evaluator, "max_steps": file.max_steps or BUDGETS.get(metadata.level)})
    return task.model_copy(update={"labels": _labels(task, metadata)})


def _parts(evaluator: ProEvaluator) -> tuple[Part, ...]:
    """The phases as parts: each requires those that it names, else the one listed before it."""
    before = [None, *(phase.name for phase in evaluator.phases)]
    return tuple(
        Part(
            name=phase.name,
            kind=PartKind.PHASE,
            text=phase.text,
            calls=calls_of(phase),
            conj=phase.conj,
            weight=phase.weight,
            app=app_of(phase.app, synonyms=True),
            after=tuple(phase.after if phase.after is not None else [previous] if previous else []),
            each_step=phase.each_step,
        )
        for phase, previous in zip(evaluator.phases, before, strict=False)
    )


def _labels(task: Task, metadata: Metadata) -> Labels:
    """The task file's labels, extended by software, disciplines and operations of phases and metadata."""
    labels = task.labels
    extra: dict[str, JSON] = {
        **labels.extra,
        "network": network_of(task),
        "group": metadata.discipline,
        "discipline": metadata.discipline,
        "subfield": metadata.subfield,
        "software": [program.model_dump() for program in metadata.software],
        "operation": metadata.operation,
        "core_operations": list(metadata.core_operations),
        "context_resources": list(metadata.context_resources),
        "source": metadata.task_source or labels.extra.get("source"),
        "expected_output": metadata.expected_output,
        "demonstration": metadata.demonstration,
        "expert_work": metadata.expert_work,
    }
    apps = labels.apps or tuple(app_of(program.name, synonyms=True) for program in metadata.software)
    needs = ApplicationNeeds()
    if not labels.requires:
        named = [program.name for program in metadata.software] or apps
        needs = needs_of(map(key_of, named), metadata.os, programs_run(task, metadata.os))
        extra |= unknown_label(needs)
    versions = () if labels.requires else versions_of(metadata.software, metadata.os)
    author = DifficultySource.AUTHOR if metadata.difficulty else labels.difficulty_source
    return labels.model_copy(
        update={
            "apps": apps,
            "requires": (*labels.requires, *needs.commands, *versions),
            "difficulty": metadata.difficulty or labels.difficulty,
            "difficulty_source": author,
            "level": metadata.level or labels.level,
            "os": metadata.os,
            "human_seconds": metadata.human_seconds,
            "human_steps": metadata.human_steps,
            "licences": {**_seats(metadata.software, needs), **labels.licences},
            "extra": {name: value for name, value in extra.items() if value not in (None, [], "")},
        }
    )


def _seats(software: Sequence[Software], needs: ApplicationNeeds) -> dict[str, int]:
    """Seats by licence: the metadata's, which may say that a program needs none, else one of each licence needed."""
    stated: dict[str, int] = {}
    for program in software:
        licence = licence_of(key_of(program.name)) or program.name
        stated[licence] = max(program.seats, stated.get(licence, 0))
    return {licence: seats for licence, seats in {**needs.licences, **stated}.items() if seats}
