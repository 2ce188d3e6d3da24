"""REST schemas of studies."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from backend.domain.statistics.intervals import LEVEL, RESAMPLES, Interval
from backend.domain.studies.study import MOST_CELLS, MOST_FACTORS, Design
from backend.services.read_model import ReadModel
from backend.services.runs.summary import RunSummary
from backend.web.api_common import RequestModel
from backend.web.runs.schemas import RunSubmit

EXAMPLE = {"image.scale": [1, 0.5], "perturbation": [None, "moved"]}


class StudySubmit(RequestModel):
    """A study to start: a base run, and what differs between its cells."""

    name: str = Field(default="", max_length=200, examples=["scale"])
    base: RunSubmit = Field(
        description="What all cells share; each run has its priority and limit. Its name is not used."
    )
    factors: dict[str, list[Any]] = Field(
        min_length=1,
        max_length=MOST_FACTORS,
        description=f"Levels by field of a run, the first one being the base cell's; {MOST_CELLS} cells at the most.",
        examples=[EXAMPLE],
    )
    design: Design = Field(default=Design.ONE_AT_A_TIME, description="One factor at a time, or every combination.")
    sample: float | None = Field(
        default=None, gt=0, le=1, description="A share of the chosen tasks, drawn from the base's seed.", examples=[0.1]
    )
    level: float = Field(default=LEVEL, ge=0.5, le=0.999, description="Confidence of intervals.")
    resamples: int = Field(default=RESAMPLES, ge=100, le=20_000, description="Draws of the bootstrap.")


class FactorView(ReadModel):
    """What differs between cells."""

    name: str = Field(examples=["image.scale"])
    levels: list[Any] = Field(examples=[[1, 0.5]])


class StudyView(ReadModel):
    """A study and how it is doing."""

    id: UUID
    name: str
    benchmark: str = Field(examples=["starter"])
    design: Design
    factors: list[FactorView]
    base: dict[str, Any] = Field(description="What all cells share, as it was asked for.")
    sample: float | None
    level: float
    resamples: int
    agents: list[str] = Field(examples=[["oracle"]])
    cells: int = Field(examples=[4])
    episodes: int
    ended: int = Field(description="Episodes that neither wait nor run.")
    states: dict[str, int] = Field(description="Episodes by state.")
    actor: str
    created_at: datetime
    url: str = Field(examples=["/studies/018f0000-0000-7000-8000-000000000000"])


class RateDifferenceView(ReadModel):
    """How a rate differs over the pairs that count: the level minus the base level."""

    base: float = Field(examples=[0.8])
    level: float = Field(examples=[0.4])
    difference: float = Field(examples=[-0.4])
    interval: Interval = Field(examples=[[-0.6, 0.0]])
    relative_drop: float | None = Field(description="Of the base's rate; null where that is 0.", examples=[0.5])


class MeasureComparison(ReadModel):
    """How a measure differs, over the pairs that have it under both levels."""

    difference: RateDifferenceView
    pairs: int
    undefined: int = Field(description="Pairs that count, but lack the measure under a level.")


class Deviation(ReadModel):
    """A task's standard deviation over the levels of a factor, averaged over tasks."""

    factor: str
    levels: int
    of: str = Field(description="`score`, or a measure.", examples=["CR"])
    mean_deviation: float
    tasks: int


class ShapeComparison(ReadModel):
    """Graphs of subtasks minus chains with equal numbers of nodes and edges and knowledge level, paired at random."""

    levels: dict[str, Any]
    of: str = Field(description="`score`, or a measure.", examples=["CR"])
    pairs: int
    unmatched: int = Field(description="Chains and graphs without a counterpart.")
    difference: RateDifferenceView | None = Field(description="Base: the chains. Level: the graphs.")
    p_value: float | None


class LevelComparison(ReadModel):
    """One level against the first one of its factor."""

    factor: str = Field(examples=["image.scale"])
    base: Any = Field(description="The first level.", examples=[1])
    level: Any = Field(examples=[0.5])
    pairs: int = Field(description="Pairs of episodes with the same task, repeat and seed of which both count.")
    tasks: int
    success_rate: RateDifferenceView | None
    mean_score: RateDifferenceView | None
    only_base: int = Field(description="Pairs solved under the base level only.")
    only_level: int = Field(description="Pairs solved under this level only.")
    test: str = Field(examples=["exact McNemar test"])
    p_value: float | None
    p_adjusted: float | None = Field(description="By Holm, over all levels of the study.")
    excluded: dict[str, int] = Field(description="Pairs that do not count, by reason.", examples=[{"lost (guest)": 1}])
    measures: dict[str, MeasureComparison] = Field(default={}, description="By the measure's name.")


class SpreadView(ReadModel):
    """How steps are spread."""

    n: int
    lowest: float
    lower: float
    median: float
    upper: float
    highest: float
    mean: float


class StudyCellView(ReadModel):
    """One cell: its levels, its run and what that came to."""

    levels: dict[str, Any]
    run: UUID
    status: str
    summary: RunSummary
    steps: SpreadView | None = Field(description="Steps taken in the episodes that count.")
    by_steps: list[int] = Field(description="Episodes in each of the bars.")
    ended_by: dict[str, int] = Field(examples=[{"done": 4, "steps": 1}])
    excluded: dict[str, int]


class StudyResults(ReadModel):
    """Current results of a study. Equal episodes give equal figures: the bootstrap is seeded by the base's seed."""

    study: StudyView
    sentence: str
    methods: str
    cells: list[StudyCellView] = Field(description="The base cell first.")
    comparisons: list[LevelComparison]
    sensitivity: list[Deviation] = Field(default=[], description="How much values vary with a factor's levels.")
    shapes: list[ShapeComparison] = Field(default=[], description="Chains against graphs, in each cell with both.")
    bars: list[tuple[int, int]] = Field(description="First and last number of steps of each bar.")
