"""REST schemas of WindowsWorld's analyses."""

from uuid import UUID

from pydantic import Field

from backend.services.read_model import ReadModel


class MeanView(ReadModel):
    """A mean over tasks."""

    value: float = Field(examples=[0.42])
    tasks: int = Field(examples=[169])


class GapView(ReadModel):
    """S_int - S_final of one group of tasks, over those that have both."""

    key: str = Field(examples=["L2"])
    s_int: float
    s_final: float
    difference: float
    tasks: int


class StepGapView(ReadModel):
    """Mean steps of failed and solved episodes of one level; null without episodes."""

    level: str = Field(examples=["L1"])
    failed: float | None = None
    solved: float | None = None
    difference: float | None = Field(default=None, description="Failed minus solved.")
    episodes: int


class RunAnalysisView(ReadModel):
    """One agent configuration."""

    run_id: UUID
    agent: str
    model: str = ""
    observation: str = ""
    variant: str = ""
    episodes: int
    s_int: MeanView | None = Field(default=None, description="Mean over tasks of L1 to L3.")
    s_int_pooled: float | None = Field(default=None, description="Checkpoints reached / listed, over all tasks.")
    s_final: MeanView | None = Field(default=None, description="Share of tasks of L1 to L4.")
    by_level: list[GapView] = Field(default=[])
    by_persona: list[GapView] = Field(default=[])
    by_apps: list[GapView] = Field(default=[], description="By number of applications.")
    steps: list[StepGapView] = Field(default=[])
    latency: float | None = Field(default=None, description="Seconds of the agent's own time per step.")


class LanguageGapView(ReadModel):
    """Chinese against English instructions on one level, over the tasks done in both."""

    level: str
    s_int_en: float | None = None
    s_int_cn: float | None = None
    s_final_en: float | None = None
    s_final_cn: float | None = None
    tasks: int


class LanguagesView(ReadModel):
    """One configuration with both instruction languages."""

    agent: str
    run_en: UUID
    run_cn: UUID
    levels: list[LanguageGapView] = Field(default=[])


class AnalysesView(ReadModel):
    """What agents reach against what they finish, on a benchmark's newest version."""

    benchmark: str = Field(examples=["windowsworld"])
    version: int
    runs: list[RunAnalysisView] = Field(default=[])
    languages: list[LanguagesView] = Field(default=[])
    more: int = Field(default=0, description="Further runs on the board; ask for them by `run`.")
