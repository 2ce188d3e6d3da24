"""A task: instruction, set-up steps, evaluator and labels, in one model for all benchmarks."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

JSON = Any
"""A JSON value from a task file."""


class Frozen(BaseModel):
    """A value object: immutable; unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Difficulty(StrEnum):
    """Difficulty of a task, if known (see DifficultySource)."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


UNLABELLED = "unlabelled"
"""Name of an unknown difficulty."""
DIFFICULTIES: tuple[str, ...] = (*Difficulty, UNLABELLED)
"""In the order of tables."""


class DifficultySource(StrEnum):
    """Source of a difficulty. Protocols reference, section 2."""

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
        result: `{"type": getter, ...}`, or None if the metric takes no result (`infeasible`).
        expected: the same for the expectation; None if the task has none; then it is not passed.
        options: keyword arguments of the metric.
    """

    func: str
    result: Mapping[str, JSON] | None = None
    expected: Mapping[str, JSON] | None = None
    options: Mapping[str, JSON] = Field(default_factory=dict)


class PartKind(StrEnum):
    """Kinds of parts, with their displayed names."""

    CHECKPOINT = "checkpoint"
    """A state that every solution passes (WindowsWorld)."""
    PHASE = "phase"
    """One of the weighted phases of a long task (ProSoftArena)."""
    NODE = "node"
    """A subtask in a task's graph (OmniBench)."""
    ASSERTION = "assertion"
    """A formula by the task's author (WindowsWorld); weight 0 = not decisive."""


class Part(Frozen):
    """An intermediate goal that is evaluated separately.

    Attributes:
        name: unique in the task; short, for tables.
        text: the state as text, for judges and people.
        calls: metric calls that decide whether it is reached, joined by `conj`.
        weight: weight in the protocol's sum; ignored by protocols with their own weights (depth).
        app: normalised name of its application.
        after: names of the parts that come before it.
        each_step: evaluate it after each action, from when all of `after` are reached until it is reached; otherwise
            once, on the end state.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9_.-]{1,100}$")
    kind: PartKind
    text: str = ""
    calls: tuple[MetricCall, ...] = Field(min_length=1)
    conj: str = Field(default="and", pattern="^(and|or)$")
    weight: float = Field(default=1.0, ge=0.0, allow_inf_nan=False)
    app: str = ""
    after: tuple[str, ...] = ()
    each_step: bool = False


MAX_PARTS = 200


class EvaluatorSpec(Frozen):
    """How a task is scored. Reference: benchmark-formats, section 1.1.

    Attributes:
        calls: metric calls on the final state; may be empty if `protocol` uses the parts alone.
        conj: `and`: any 0 gives 0, else the mean; `or`: any 1 gives 1, else the maximum.
        postconfig: steps run before collecting.
        strict_upstream: metrics reproduce upstream's bugs, for published numbers.
        parts: intermediate goals, an acyclic graph.
        protocol: registered scoring protocol that computes score and measures; empty: the calls' score.
        patience: steps without a newly reached part after which the episode ends as `stalled`; None = never.
        text: the final state as text, for judges and people; empty if only the instruction describes it.
    """

    calls: tuple[MetricCall, ...]
    conj: str = Field(default="and", pattern="^(and|or)$")
    postconfig: tuple[SetupStep, ...] = ()
    strict_upstream: bool = False
    parts: tuple[Part, ...] = Field(default=(), max_length=MAX_PARTS)
    protocol: str = ""
    patience: int | None = Field(default=None, ge=1)
    text: str = ""

    @property
    def infeasible(self) -> bool:
        """True if the only correct answer is FAIL."""
        return any(call.func == "infeasible" for call in self.calls)

    @property
    def handed_in(self) -> bool:
        """True if people judge the result, so that there is no score (`handed_in` marks the files)."""
        return any(call.func == "handed_in" for call in self.calls)

    @property
    def all_calls(self) -> tuple[MetricCall, ...]:
        """The calls on the final state, then those of each part: evidence is stored in this order."""
        return (*self.calls, *(call for part in self.parts for call in part.calls))

    @property
    def stepwise(self) -> bool:
        """True if a part is evaluated while the agent works."""
        return any(part.each_step for part in self.parts)

    def places(self, part: Part) -> range:
        """Positions of a part's calls in `all_calls`."""
        start = len(self.calls)
        for other in self.parts:
            if other.name == part.name:
                return range(start, start + len(other.calls))
            start += len(other.calls)
        raise KeyError(part.name)

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        """Validates unique names, an acyclic `after`, and that no stepwise part depends on a final one."""
        names = [part.name for part in self.parts]
        if len(set(names)) != len(names):
            raise ValueError("two parts have the same name")
        if self.parts:
            check_order({part.name: part.after for part in self.parts})
        late = {part.name for part in self.parts if not part.each_step}
        for part in self.parts:
            if part.each_step and late & set(part.after):
                raise ValueError(f"{part.name!r} is evaluated after each step, but depends on one that is not")
        return self


def check_order(after: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """A topological order of the names.

    Args:
        after: for each name, the names that come before it.

    Raises:
        ValueError: a name is unknown, or there is a cycle; the message names it.
    """
    for name, before in after.items():
        unknown = [name for name in before if name not in after]
        if unknown:
            raise ValueError(f"{name!r} comes after {unknown[0]!r}, which does not exist")
    ordered: dict[str, None] = {}
    waiting = dict(after)
    while waiting:
        ready = [name for name, before in waiting.items() if all(name in ordered for name in before)]
        if not ready:
            raise ValueError(f"these come after one another in a circle: {', '.join(sorted(waiting)[:10])}")
        for name in ready:
            ordered[name] = None
            del waiting[name]
    return tuple(ordered)


class Labels(Frozen):
    """Metadata of a task that does not affect how it runs.

    Attributes:
        apps: normalised application names that the task is about.
        requires: commands that must exist on the desktop, for example `mousepad`, or a command in one version
            (`photoshop 26.7`); otherwise it is not runnable there. See `machines/applications.py`.
        difficulty: None = unlabelled.
        level: a benchmark's own level, for example `L2`; not a difficulty.
        os: `linux` or `windows`.
        feasible: whether the task can be done.
        human_seconds, human_steps: a person's time and steps, if measured.
        licences: seats of each licence that an attempt uses, see docs/run-a-benchmark.md.
    """

    apps: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    difficulty: Difficulty | None = None
    difficulty_source: DifficultySource | None = None
    level: str | None = None
    os: str = "linux"
    feasible: bool = True
    human_seconds: float | None = None
    human_steps: int | None = None
    licences: Mapping[str, int] = Field(default_factory=dict)
    extra: Mapping[str, JSON] = Field(default_factory=dict)


class Task(Frozen):
    """One task of a task set.

    Attributes:
        key: domain and file name.
        dialect: dialect of names (`osworld`, `waa`, ...), looked up before `common`.
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
        """Sha256 (hex) of everything that affects scores or counts.

        Defaults are left out, so that new fields do not change existing hashes.
        """
        return digest(self.model_dump(mode="json", exclude_defaults=True))


class Variant(Frozen):
    """A task under another condition, for paired comparisons.

    Attributes:
        axis: the condition: `context`, `language`, ...
        value: how, for example `none`.
        task: the whole task under that condition; its key equals that of the original task.
    """

    axis: str = Field(min_length=1, max_length=50)
    value: str = Field(min_length=1, max_length=50)
    task: Task


class LoadedBenchmark(Frozen):
    """A benchmark read from files.

    Attributes:
        kind: importer name (`osworld`, `starter`, ...), also the default dialect.
        suite: name of the published suite, for reported results; empty = none.
        tasks: in a stable order.
        variants: of these tasks.
        selections: named selections: name -> keys (`domain/name`) of tasks.
        assets: files the tasks need, by the name that steps use for them (bytes are stored by hash).
        warnings: tolerated oddities, each with file and key.
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
        """Sha256 (hex) of the task set: independent of the order of files."""
        tasks = sorted((str(task.key), task.content_hash()) for task in self.tasks)
        assets = sorted((name, hashlib.sha256(data).hexdigest()) for name, data in self.assets.items())
        variants = sorted(
            (f"{variant.task.key} {variant.axis}={variant.value}", variant.task.content_hash())
            for variant in self.variants
        )
        more = [variants, sorted(self.selections.items())] if variants or self.selections else []
        return digest([self.kind, tasks, assets, *more])


def digest(value: JSON) -> str:
    """Sha256 (hex) of the canonical JSON of `value` (sorted keys, no spaces)."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
