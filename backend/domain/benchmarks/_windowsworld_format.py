"""One entry of WindowsWorld's `benchmark.json`; `deskarena` is ours. Benchmark-formats reference, section 1.3."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from backend.domain.model.task import Difficulty, DifficultySource

Short = Annotated[str, Field(min_length=1, max_length=300)]
Text = Annotated[str, Field(max_length=20_000)]


class _Loose(BaseModel):
    """Ignores unknown keys, which stay in the task's `raw`."""

    model_config = ConfigDict(frozen=True, extra="allow")


class _Exact(BaseModel):
    """Rejects unknown keys: these keys are ours."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class FileToCreate(_Loose):
    """A file that exists when the agent begins, described in text."""

    filename: Short
    file_path: str = Field(max_length=500)
    file_type: Short
    content_generation_prompt: Text


class WindowsWorldResource(_Loose):
    """A file of the web that the task needs."""

    url: str = Field(max_length=2000)
    save_as: Short
    description: Text = ""


class EnvironmentSetup(_Loose):
    """Files and resources that must exist at the start."""

    files_to_create: list[FileToCreate] = Field(default_factory=list, max_length=100)
    urls_to_mock: list[Annotated[str, Field(max_length=2000)]] = Field(default_factory=list, max_length=100)
    downloadable_resources: list[WindowsWorldResource] = Field(default_factory=list, max_length=100)


class Metrics(_Loose):
    """Success criteria: text, sometimes with formulas."""

    success_criterion: Text = ""
    intermediate_checks: list[Text] = Field(default_factory=list, max_length=100)
    expected_final_state: Text | None = None
    assertions: list[Text] = Field(default_factory=list, max_length=100)


class Validity(_Loose):
    """Result of the authors' own review of the task."""

    is_valid: bool = True
    validity_note: str | None = None


class WindowsWorldCall(_Exact):
    """One metric call in OSWorld's form; `each_step`: evaluated after each step."""

    func: Short
    result: dict[str, Any] | None = None
    expected: dict[str, Any] | None = None
    options: dict[str, Any] = Field(default_factory=dict)


class WindowsWorldCheck(WindowsWorldCall):
    """The check of one checkpoint without a judge."""

    each_step: bool = False
    after: list[int] = Field(default_factory=list, max_length=100)
    """Checkpoints that precede this one, counted from 1."""


class WindowsWorldStep(_Exact):
    """A set-up step of a WindowsWorld task."""

    type: Short
    parameters: dict[str, Any] = Field(default_factory=dict)


class WindowsWorldAdditions(_Exact):
    """Additions that make a task run on our desktops; they extend the published keys and never replace them.

    Attributes:
        checks: one per checkpoint, in order; null = decided by the judge.
        final: calls that evaluate the end state; none = decided by the judge.
        setup: steps after the files are created.
        mocks: address -> asset that the gateway serves for it.
    """

    os: Literal["linux", "windows"] = "windows"
    requires: list[Short] = Field(default_factory=list, max_length=50)
    setup: list[WindowsWorldStep] = Field(default_factory=list, max_length=100)
    postconfig: list[WindowsWorldStep] = Field(default_factory=list, max_length=100)
    checks: list[WindowsWorldCheck | None] | None = Field(default=None, max_length=100)
    final: list[WindowsWorldCall] = Field(default_factory=list, max_length=20)
    oracle: list[dict[str, Any]] | None = None
    mocks: dict[str, str] = Field(default_factory=dict)
    difficulty: Difficulty | None = None
    difficulty_source: DifficultySource | None = None


class WindowsWorldTask(_Loose):
    """One task as published."""

    task_id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,150}$")
    instruction: str = Field(min_length=1, max_length=20_000)
    instruction_cn: Text = ""
    task_category: Literal["L1", "L2", "L3", "L4"]
    persona: Short
    involved_apps: list[Short] = Field(default_factory=list, max_length=50)
    pre_conditions: list[Text] = Field(default_factory=list, max_length=100)
    environment_setup: EnvironmentSetup = EnvironmentSetup()
    evaluation_metrics: Metrics = Metrics()
    validity_info: Validity = Validity()
    review_status: Short = "pending"
    reviewer_notes: str | None = None
    deskarena: WindowsWorldAdditions = WindowsWorldAdditions()
