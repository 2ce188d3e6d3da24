"""REST views of studies."""

from pydantic import ValidationError

from backend.domain.errors import Invalid
from backend.domain.model.run import RunConfig
from backend.domain.statistics import paired
from backend.domain.statistics.distributions import Spread
from backend.domain.studies.study import Factor, StudyConfig
from backend.domain.studies.study_results import CellResult, LevelResult
from backend.services.capacity.scheduling_fields import SchedulingUpdate
from backend.services.studies.studies import Results, StudyCell, StudyDetail, sentence
from backend.services.studies.views import methods
from backend.web.studies import schemas

_OF_RUNS = {"name", "benchmark", "open", *SchedulingUpdate.model_fields}
"""Fields of a run that its study does not compare."""


def config_of(body: schemas.StudySubmit) -> StudyConfig:
    """The requested study. Raises Invalid."""
    settings = body.base.model_dump(mode="json", exclude_unset=True, exclude=_OF_RUNS)
    try:
        return StudyConfig(
            name=body.name,
            benchmark=body.base.benchmark,
            base=RunConfig.model_validate(settings),
            factors=tuple(Factor(name=name, levels=tuple(levels)) for name, levels in body.factors.items()),
            design=body.design,
            sample=body.sample,
            level=body.level,
            resamples=body.resamples,
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise Invalid(first["msg"], code="invalid_study", path=".".join(map(str, first["loc"]))) from error


def tuning_of(body: schemas.StudySubmit) -> SchedulingUpdate:
    """Initial scheduling settings of each run."""
    return SchedulingUpdate.model_validate(
        body.base.model_dump(include=set(SchedulingUpdate.model_fields), exclude_unset=True)
    )


def study(view: StudyDetail) -> schemas.StudyView:
    config = view.config
    return schemas.StudyView(
        id=view.study.id,
        name=view.study.name,
        benchmark=config.benchmark,
        design=config.design,
        factors=[schemas.FactorView(name=factor.name, levels=list(factor.levels)) for factor in config.factors],
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


def results(results: Results) -> schemas.StudyResults:
    """The study's results."""
    return schemas.StudyResults(
        study=study(results.view),
        sentence=sentence(results),
        methods=methods(results),
        cells=[_cell(*both) for both in zip(results.cells, results.result.cells, strict=True)],
        comparisons=[_level(level) for level in results.result.levels],
        sensitivity=[
            schemas.Deviation(factor=one.factor, levels=one.levels, of=name, mean_deviation=deviation, tasks=tasks)
            for one in results.result.sensitivity
            for name, (deviation, tasks) in one.deviations.items()
        ],
        shapes=[
            schemas.ShapeComparison(
                levels=dict(one.levels),
                of=name,
                pairs=compared.pairs,
                unmatched=one.unmatched,
                difference=_difference(compared.score),
                p_value=compared.p_value,
            )
            for one in results.result.shapes
            for name, compared in one.comparisons.items()
        ],
        bars=[(bar.first, bar.last) for bar in results.result.bars],
    )


def _cell(cell: StudyCell, result: CellResult) -> schemas.StudyCellView:
    return schemas.StudyCellView(
        levels=dict(cell.levels),
        run=cell.run.id,
        status=cell.run.state,
        summary=cell.summary,
        steps=_spread(result.steps),
        by_steps=list(result.by_steps),
        ended_by=dict(result.ended_by),
        excluded=dict(result.excluded),
    )


def _spread(spread: Spread | None) -> schemas.SpreadView | None:
    return None if spread is None else schemas.SpreadView(**spread._asdict())


def _difference(difference: paired.Difference | None) -> schemas.RateDifferenceView | None:
    if difference is None:
        return None
    return schemas.RateDifferenceView(
        base=difference.base,
        level=difference.other,
        difference=difference.value,
        interval=tuple(difference.interval),
        relative_drop=difference.relative_drop,
    )


def _level(level: LevelResult) -> schemas.LevelComparison:
    compared = level.comparison
    return schemas.LevelComparison(
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
            name: schemas.MeasureComparison(difference=difference, pairs=one.pairs, undefined=one.undefined)
            for name, one in level.measures.items()
            if (difference := _difference(one.difference)) is not None
        },
        excluded=dict(level.excluded),
    )
