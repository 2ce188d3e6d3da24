"""Views of a study and its results, also as flat rows."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from backend.domain.statistics import paired
from backend.domain.statistics.distributions import Bar, Spread
from backend.domain.statistics.intervals import Interval
from backend.domain.studies.study import TASKS, Design, cell_label, level_label
from backend.domain.studies.study_results import CellResult, LevelResult
from backend.services.configurations.configuration_ref import ConfigurationRef, configuration_ref
from backend.services.read_model import ReadModel
from backend.services.runs.summary import RunSummary
from backend.services.studies.studies import Results, StudyCell, StudyDetail, sentence

METHODS = (
    "Pairs share task, repeat and seed. Intervals: {level:.0%}, Wilson's by the effective number of trials, tasks as "
    "clusters; where all tasks differ alike, Wilson's bound on tasks of another kind. p-values: two-sided, exact "
    "McNemar test, or sign test over tasks where a task has several pairs; adjusted by Holm over {number} levels."
)


class FactorView(ReadModel):
    """A property that differs between cells."""

    name: str = Field(examples=["image.scale"])
    levels: list[Any] = Field(examples=[[1, 0.5]])


class StudyView(ReadModel):
    """A study and its progress."""

    id: UUID
    name: str
    notice: str = Field(default="", description="What its submitter should know, such as that no worker is online yet.")
    benchmark: str = Field(examples=["starter"])
    design: Design
    factors: list[FactorView]
    base: dict[str, Any] = Field(description="What all cells share, as it was asked for.")
    sample: float | None
    level: float
    resamples: int = Field(description="Without effect.")
    agents: list[str] = Field(examples=[["oracle"]])
    cells: int = Field(examples=[4])
    episodes: int
    ended: int = Field(description="Episodes that neither wait nor run.")
    states: dict[str, int] = Field(description="Episodes by state.")
    actor: str
    created_at: datetime
    url: str = Field(examples=["/studies/018f0000-0000-7000-8000-000000000000"])


class RateDifferenceView(ReadModel):
    """Difference of a rate over the counted pairs: the level minus the base level."""

    base: float = Field(examples=[0.8])
    level: float = Field(examples=[0.4])
    difference: float = Field(examples=[-0.4])
    interval: Interval = Field(examples=[[-0.6, 0.0]])
    relative_drop: float | None = Field(description="Of the base's rate; null where that is 0.", examples=[0.5])


class MeasureComparison(ReadModel):
    """Difference of a measure over pairs that have it under both levels; null without such pairs."""

    difference: RateDifferenceView | None
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
    """Distribution of steps."""

    n: int
    lowest: float
    lower: float
    median: float
    upper: float
    highest: float
    mean: float


class StudyCellView(ReadModel):
    """One cell: its levels, its run and the run's results."""

    levels: dict[str, Any]
    configuration: ConfigurationRef
    run: UUID
    status: str
    summary: RunSummary
    steps: SpreadView | None = Field(description="Steps taken in the episodes that count.")
    by_steps: list[int] = Field(description="Episodes in each of the bars.")
    ended_by: dict[str, int] = Field(examples=[{"done": 4, "steps": 1}])
    excluded: dict[str, int]


class StudyResults(ReadModel):
    """Current results of a study. Equal episodes give equal figures."""

    study: StudyView
    conclusion: str
    methods: str
    cells: list[StudyCellView] = Field(description="The base cell first.")
    comparisons: list[LevelComparison]
    sensitivity: list[Deviation] = Field(default=[], description="How much values vary with a factor's levels.")
    shapes: list[ShapeComparison] = Field(default=[], description="Chains against graphs, in each cell with both.")
    bars: list[Bar] = Field(description="First and last number of steps of each bar.")

    @property
    def task_sets(self) -> list[str]:
        """Names of the study's task sets; empty if all cells have the same tasks."""
        return list(dict.fromkeys(level_label(cell.levels[TASKS]) for cell in self.cells if TASKS in cell.levels))

    @property
    def by_task_set(self) -> dict[str, dict[str, StudyCellView]]:
        """Cells by condition and task set: the matrix of a study with task sets."""
        matrix: dict[str, dict[str, StudyCellView]] = {}
        for cell in self.cells:
            condition = cell_label({name: level for name, level in cell.levels.items() if name != TASKS})
            matrix.setdefault(condition, {})[level_label(cell.levels.get(TASKS))] = cell
        return matrix

    @property
    def alike(self) -> list[StudyCellView]:
        """Cells with the base cell's tasks."""
        return [cell for cell in self.cells if cell.levels.get(TASKS) == self.cells[0].levels.get(TASKS)]

    @property
    def ways(self) -> list[str]:
        """All endings of episodes in the study."""
        return sorted({way for cell in self.cells for way in cell.ended_by})


def methods(results: Results) -> str:
    """Methods of the figures, as text."""
    config = results.view.config
    return METHODS.format(level=config.level, number=len(results.result.levels))


def study_view(view: StudyDetail) -> StudyView:
    """A study."""
    config = view.config
    return StudyView(
        id=view.study.id,
        name=view.study.name,
        benchmark=config.benchmark,
        design=config.design,
        factors=[FactorView(name=factor.name, levels=list(factor.levels)) for factor in config.factors],
        base=config.base.model_dump(mode="json", exclude_unset=True),
        sample=config.sample,
        level=config.level,
        resamples=config.resamples,
        agents=list(view.agents),
        cells=view.cells,
        episodes=view.episodes,
        ended=view.ended,
        states=dict(view.states),
        actor=view.actor,
        created_at=view.study.created_at,
        url=f"/studies/{view.study.id}",
    )


def results_view(results: Results) -> StudyResults:
    """The results of a study."""
    return StudyResults(
        study=study_view(results.view),
        conclusion=sentence(results),
        methods=methods(results),
        cells=[_cell(*both) for both in zip(results.cells, results.result.cells, strict=True)],
        comparisons=[_level(level) for level in results.result.levels],
        sensitivity=[
            Deviation(factor=effect.factor, levels=effect.levels, of=name, mean_deviation=deviation, tasks=tasks)
            for effect in results.result.sensitivity
            for name, (deviation, tasks) in effect.deviations.items()
        ],
        shapes=[
            ShapeComparison(
                levels=dict(shape.levels),
                of=name,
                pairs=compared.pairs,
                unmatched=shape.unmatched,
                difference=_difference(compared.score),
                p_value=compared.p_value,
            )
            for shape in results.result.shapes
            for name, compared in shape.comparisons.items()
        ],
        bars=list(results.result.bars),
    )


def _cell(cell: StudyCell, result: CellResult) -> StudyCellView:
    return StudyCellView(
        levels=dict(cell.levels),
        configuration=configuration_ref(cell.configuration),
        run=cell.run.id,
        status=cell.run.state,
        summary=cell.summary,
        steps=_spread(result.steps),
        by_steps=list(result.by_steps),
        ended_by=dict(result.ended_by),
        excluded=dict(result.excluded),
    )


def _spread(spread: Spread | None) -> SpreadView | None:
    return None if spread is None else SpreadView(**spread._asdict())


def _difference(difference: paired.Difference | None) -> RateDifferenceView | None:
    if difference is None:
        return None
    return RateDifferenceView(
        base=difference.base,
        level=difference.other,
        difference=difference.value,
        interval=difference.interval,
        relative_drop=difference.relative_drop,
    )


def _level(level: LevelResult) -> LevelComparison:
    compared = level.comparison
    return LevelComparison(
        factor=level.factor,
        base=level.base,
        level=level.level,
        pairs=compared.pairs,
        tasks=compared.tasks,
        success_rate=_difference(compared.success),
        mean_score=_difference(compared.score),
        only_base=compared.only_base,
        only_level=compared.only_other,
        test=compared.test,
        p_value=compared.p_value,
        p_adjusted=level.adjusted_p,
        measures={
            name: MeasureComparison(
                difference=_difference(measure.difference), pairs=measure.pairs, undefined=measure.undefined
            )
            for name, measure in level.measures.items()
        },
        excluded=dict(level.excluded),
    )


def comparison_rows(results: StudyResults) -> Iterator[dict[str, Any]]:
    """The paired table as flat rows."""
    for level in results.comparisons:
        row: dict[str, Any] = {
            "factor": level.factor,
            "base": level_label(level.base),
            "level": level_label(level.level),
            "pairs": level.pairs,
            "tasks": level.tasks,
        }
        for name, rate in (("success", level.success_rate), ("score", level.mean_score)):
            row |= _rate_cells(name, rate)
        row |= {"only_base": level.only_base, "only_level": level.only_level, "test": level.test}
        row |= {"p_value": level.p_value, "p_adjusted": level.p_adjusted, "excluded": words(level.excluded)}
        yield row


def _rate_cells(name: str, rate: RateDifferenceView | None) -> dict[str, Any]:
    fields = ("base", "level", "difference", "low", "high", "relative_drop")
    values = (
        (None,) * len(fields)
        if rate is None
        else (rate.base, rate.level, rate.difference, *rate.interval, rate.relative_drop)
    )
    return {f"{name}_{field}": value for field, value in zip(fields, values, strict=True)}


def cell_rows(results: StudyResults) -> Iterator[dict[str, Any]]:
    """Every cell with its rates, steps and endings, flat."""
    for cell in results.cells:
        summary, steps = cell.summary, cell.steps
        yield {
            "cell": cell_label(cell.levels),
            "configuration": cell.configuration.name,
            "run": str(cell.run),
            "episodes": summary.episodes,
            "scored": summary.counts.scored,
            "success_rate": summary.success_rate,
            "mean_score": summary.mean_score,
            "steps_median": steps.median if steps else None,
            "steps_mean": steps.mean if steps else None,
            **{f"ended_by_{way}": cell.ended_by.get(way, 0) for way in results.ways},
            "excluded": words(cell.excluded),
        }


def step_rows(results: StudyResults) -> Iterator[dict[str, Any]]:
    """Episodes by steps taken: one row per cell and bar."""
    for cell in results.cells:
        for bar, number in zip(results.bars, cell.by_steps, strict=True):
            yield {"cell": cell_label(cell.levels), "from": bar.first, "to": bar.last, "episodes": number}


def measure_rows(results: StudyResults) -> Iterator[dict[str, Any]]:
    """Differences of measures, flat: one row per level and measure."""
    for level in results.comparisons:
        identity = {"factor": level.factor, "base": level_label(level.base), "level": level_label(level.level)}
        for name, measure in level.measures.items():
            counts = {"measure": name, "pairs": measure.pairs, "undefined": measure.undefined}
            yield {**identity, **counts, **_rate_cells("mean", measure.difference)}


def sensitivity_rows(results: StudyResults) -> Iterator[dict[str, Any]]:
    """Variation of values with a factor's levels, flat."""
    for effect in results.sensitivity:
        yield effect.model_dump()


def shape_rows(results: StudyResults) -> Iterator[dict[str, Any]]:
    """Chains against graphs, flat: one row per cell and score or measure."""
    for shape in results.shapes:
        row: dict[str, Any] = {"cell": cell_label(shape.levels), "of": shape.of, "pairs": shape.pairs}
        yield {**row, "unmatched": shape.unmatched, "p_value": shape.p_value, **_rate_cells("mean", shape.difference)}


def words(counts: Mapping[str, int]) -> str:
    """`lost (guest) 2, waiting 1`."""
    return ", ".join(f"{reason} {number}" for reason, number in counts.items())
