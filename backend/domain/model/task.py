"""What a task is: instruction, set-up steps, evaluator and labels, in the one model that all benchmarks share."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

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


UNLABELLED = "unlabelled"
"""What a task's difficulty is called where nobody has said it."""
DIFFICULTIES: tuple[str, ...] = (*Difficulty, UNLABELLED)
"""In the order of tables."""


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


class PartKind(StrEnum):
    """What a part of a task is called where it is shown."""

    CHECKPOINT = "checkpoint"
    """A state that every right way passes (WindowsWorld)."""
    PHASE = "phase"
    """One of the weighted phases of a long task (ProSoftArena)."""
    NODE = "node"
    """A subtask in a task's graph (OmniBench)."""
    ASSERTION = "assertion"
    """A formula that the task's author wrote beside the checkpoints (WindowsWorld); weight 0 = it decides nothing."""


class Part(Frozen):
    """One thing that is judged by itself on the way to the final state.

    Attributes:
        name: unique in the task; short, for tables.
        text: the state in words: what a judge and a person judge by.
        calls: metric calls that say whether it was reached, joined by `conj`.
        weight: in the protocol's sum; protocols that have their own weights (depth) ignore it.
        app: application that it is done in, normalised.
        after: names of the parts that come before it.
        each_step: looked at after each of the agent's actions from when all of `after` are reached, until it is
            reached itself; otherwise once, on what the agent left behind.
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
        calls: metric calls on the final state; may be empty where `protocol` scores by the parts alone.
        conj: `and`: any 0 makes 0, else the mean; `or`: any 1 makes 1, else the largest.
        postconfig: steps run before collecting.
        strict_upstream: metrics whose published form is wrong judge as published, to reproduce old numbers.
        parts: what is judged by itself; they make a graph without a circle.
        protocol: registered scoring protocol that makes score and measures of calls and parts; empty: the calls' score.
        patience: steps without a newly reached part after which the episode ends as `stalled`; None = never.
        text: the final state in words, for a judge and for people; empty where only the instruction says it.
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
        """True when the only right end is the agent saying FAIL."""
        return any(call.func == "infeasible" for call in self.calls)

    @property
    def handed_in(self) -> bool:
        """True when people judge what the agent leaves behind: there is no score (`handed_in` marks the files)."""
        return any(call.func == "handed_in" for call in self.calls)

    @property
    def all_calls(self) -> tuple[MetricCall, ...]:
        """The calls on the final state, then those of each part: evidence is stored in this order."""
        return (*self.calls, *(call for part in self.parts for call in part.calls))

    @property
    def stepwise(self) -> bool:
        """True if something has to be looked at while the agent works."""
        return any(part.each_step for part in self.parts)

    def places(self, part: Part) -> range:
        """Where the calls of one of the parts stand in `all_calls`."""
        start = len(self.calls)
        for other in self.parts:
            if other.name == part.name:
                return range(start, start + len(other.calls))
            start += len(other.calls)
        raise KeyError(part.name)

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        """Names are unique, `after` makes no circle, and what is looked at early waits for nothing late."""
        names = [part.name for part in self.parts]
        if len(set(names)) != len(names):
            raise ValueError("two parts have the same name")
        if self.parts:
            check_order({part.name: part.after for part in self.parts})
        late = {part.name for part in self.parts if not part.each_step}
        for part in self.parts:
            if part.each_step and late & set(part.after):
                raise ValueError(f"{part.name!r} is looked at after each step, but waits for one that is not")
        return self


def check_order(after: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """One order in which every name comes after those that it must come after.

    Args:
        after: for each name, the names that come before it.

    Raises:
        ValueError: a name is unknown, or there is a circle; says which.
    """
    for name, before in after.items():
        unknown = [one for one in before if one not in after]
        if unknown:
            raise ValueError(f"{name!r} comes after {unknown[0]!r}, which is not there")
    done: dict[str, None] = {}
    waiting = dict(after)
    while waiting:
        ready = [name for name, before in waiting.items() if all(one in done for one in before)]
        if not ready:
            raise ValueError(f"these come after one another in a circle: {', '.join(sorted(waiting)[:10])}")
        for name in ready:
            done[name] = None
            del waiting[name]
    return tuple(done)


class Labels(Frozen):
    """What is known about a task besides how to run it.

    Attributes:
        apps: normalised application names that the task is about.
        requires: commands that must exist on the desktop, for example `mousepad`; else it is not runnable there.
        difficulty: None = unlabelled.
        level: a benchmark's own level, for example `L2`; not a difficulty.
        os: `linux` or `windows`.
        feasible: False when the task cannot be done.
        human_seconds, human_steps: a person's time and steps, if measured.
        licences: how many seats of each named licence an attempt holds, see docs/run-a-benchmark.md.
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
            (f"{each.task.key} {each.axis}={each.value}", each.task.content_hash()) for each in self.variants
        )
        more = [variants, sorted(self.selections.items())] if variants or self.selections else []
        return digest([self.kind, tasks, assets, *more])


def digest(value: JSON) -> str:
    """Sha256 (hex) of the canonical JSON of `value` (sorted keys, no spaces)."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
