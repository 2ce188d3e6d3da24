"""What a task is: instruction, set-up steps, evaluator and labels, in the one model that all benchmarks share."""

import hashlib
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

JSON = Any
"""A JSON value as it came from a task file."""


class Frozen(BaseModel):
    """A value object: immutable, and an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Difficulty(StrEnum):
    """How hard a task is, if somebody has said so (see DifficultySource)."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class DifficultySource(StrEnum):
    """Who says how hard a task is. Protocols reference, section 2."""

    AUTHOR = "author"
    HUMAN_TIME = "human_time"
    HUMAN_RATING = "human_rating"
    PAPER_DOMAIN = "paper_domain"
    EMPIRICAL = "empirical"


class TaskKey(Frozen):
    """Identity of a task inside its task set: folder and file name, never the `id` field (which upstream repeats)."""

    domain: str = Field(min_length=1, max_length=100)
    name: str = Field(min_length=1, max_length=200)

    def __str__(self) -> str:
        return f"{self.domain}/{self.name}"


class SetupStep(Frozen):
    """One `{"type": ..., "parameters": {...}}` of `config` or `postconfig`."""

    type: str
    parameters: Mapping[str, JSON] = Field(default_factory=dict)


class MetricCall(Frozen):
    """One metric of an evaluator with its getters and options.

    Attributes:
        func: registered metric name.
        result: `{"type": getter, ...}`, or None where the metric takes no result (`infeasible`).
        expected: the same for the expectation; None when the task gives none, and then it is not passed.
        options: keyword arguments of the metric.
    """

    func: str
    result: Mapping[str, JSON] | None = None
    expected: Mapping[str, JSON] | None = None
    options: Mapping[str, JSON] = Field(default_factory=dict)


class EvaluatorSpec(Frozen):
    """How the end state is scored. Reference: benchmark-formats, section 1.1.

    Attributes:
        calls: one or more metric calls.
        conj: `and`: any 0 makes 0, else the mean; `or`: any 1 makes 1, else the largest.
        postconfig: steps run before collecting.
        strict_upstream: metrics whose published form is wrong judge as published, to reproduce old numbers.
    """

    calls: tuple[MetricCall, ...]
    conj: str = Field(default="and", pattern="^(and|or)$")
    postconfig: tuple[SetupStep, ...] = ()
    strict_upstream: bool = False

    @property
    def infeasible(self) -> bool:
        """True when the only right end is the agent saying FAIL."""
        return any(call.func == "infeasible" for call in self.calls)


class Labels(Frozen):
    """What is known about a task besides how to run it.

    Attributes:
        apps: normalised application names that the task is about.
        requires: commands that must exist on the desktop, for example `mousepad`; else it is not runnable there.
        difficulty: None = unlabelled.
        level: a benchmark's own level, for example `L2`; not a difficulty.
        os: `linux` or `windows`.
        feasible: False when the task cannot be done.
        human_seconds: a person's time, if measured.
    """

    apps: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    difficulty: Difficulty | None = None
    difficulty_source: DifficultySource | None = None
    level: str | None = None
    os: str = "linux"
    feasible: bool = True
    human_seconds: float | None = None
    extra: Mapping[str, JSON] = Field(default_factory=dict)


class Task(Frozen):
    """One task of a task set.

    Attributes:
        key: domain and file name.
        dialect: whose semantics names have (`osworld`, `waa`, ...); looked up before `common`.
        setup: steps that prepare the desktop before the agent sees it.
        oracle: a GUI solution as data (see `agents/oracle.py`), if the task set has one.
        max_steps: the benchmark's own budget for this task; a run may override it.
        raw: the task file verbatim.

    The files of the web that it needs are `backend.domain.benchmarks.external_assets(task)`.
    """

    key: TaskKey
    dialect: str
    instruction: str
    setup: tuple[SetupStep, ...] = ()
    evaluator: EvaluatorSpec
    labels: Labels = Labels()
    oracle: tuple[Mapping[str, JSON], ...] | None = None
    max_steps: int | None = None
    raw: Mapping[str, JSON] = Field(default_factory=dict)

    def content_hash(self) -> str:
        """Sha256 (hex) over everything that could change a score or a count.

        What has its default is left out: a field that a later version adds changes no hash of a task without it.
        """
        return digest(self.model_dump(mode="json", exclude_defaults=True))


class Variant(Frozen):
    """A task under another condition, compared paired with it.

    Attributes:
        axis: what differs: `context`, `language`, ...
        value: how, for example `none`.
        task: the whole task under that condition; its key is the key of the task that it is a variant of.
    """

    axis: str = Field(min_length=1, max_length=50)
    value: str = Field(min_length=1, max_length=50)
    task: Task


class LoadedBenchmark(Frozen):
    """What an importer read from files.

    Attributes:
        kind: importer name (`osworld`, `starter`, ...), also the default dialect.
        suite: the published suite that this is, by which reported results are found; empty = none.
        tasks: in a stable order.
        variants: of these tasks.
        selections: keys (`domain/name`) of some of the tasks, by the name of the selection.
        assets: files the tasks need, by the name that steps use for them (bytes are stored by hash).
        warnings: things that were odd but understood, each naming file and key.
        licence: name of the licence the tasks are under.
        source: where they come from.
    """

    kind: str
    suite: str = ""
    tasks: tuple[Task, ...]
    variants: tuple[Variant, ...] = ()
    selections: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    assets: Mapping[str, bytes] = Field(default_factory=dict, repr=False)
    warnings: tuple[str, ...] = ()
    licence: str = ""
    source: str = ""

    def content_hash(self) -> str:
        """Sha256 (hex) of the task set: same tasks and assets, same hash, whatever the order of files."""
        tasks = sorted((str(task.key), task.content_hash()) for task in self.tasks)
        assets = sorted((name, hashlib.sha256(data).hexdigest()) for name, data in self.assets.items())
        variants = sorted(
            (f"{found.task.key} {found.axis}={found.value}", found.task.content_hash()) for found in self.variants
        )
        more = [variants, sorted(self.selections.items())] if variants or self.selections else []
        return digest([self.kind, tasks, assets, *more])


def digest(value: JSON) -> str:
    """Sha256 (hex) of the canonical JSON of `value` (sorted keys, no spaces)."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
