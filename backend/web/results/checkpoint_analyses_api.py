"""WindowsWorld's analyses of the runs on a benchmark's board."""

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from fastapi import Query

from backend.domain.statistics.checkpoints import Gap, LanguageGap, Mean, StepGap
from backend.services.results import checkpoint_analyses as service
from backend.web.api_common import Name, api_router
from backend.web.dependencies import SessionDep
from backend.web.results import checkpoint_analyses_schemas as schemas

router = api_router("leaderboards")
Runs = Annotated[
    list[UUID] | None, Query(max_length=service.MOST, description="Runs on the board; the newest if none.")
]


@router.get("/benchmarks/{name}/analyses")
def analyses(session: SessionDep, name: Name, run: Runs = None) -> schemas.AnalysesView:
    """S_int against S_final by level, persona and number of applications; step gap, latency, languages."""
    analyses = service.analyses(session, name, run or ())
    return schemas.AnalysesView(
        benchmark=analyses.benchmark,
        version=analyses.version,
        runs=[_run(one) for one in analyses.runs],
        languages=[_languages(one) for one in analyses.languages],
        more=analyses.more,
    )


def _run(one: service.RunAnalysis) -> schemas.RunAnalysisView:
    return schemas.RunAnalysisView(
        run_id=one.run_id,
        agent=one.agent,
        model=one.model,
        observation=one.observation,
        variant=one.variant,
        episodes=one.episodes,
        s_int=_mean(one.s_int),
        s_int_pooled=one.pooled,
        s_final=_mean(one.s_final),
        by_level=_gaps(one.by_level),
        by_persona=_gaps(one.by_persona),
        by_apps=_gaps(one.by_apps),
        steps=[_steps(gap) for gap in one.steps],
        latency=one.latency,
    )


def _mean(mean: Mean | None) -> schemas.MeanView | None:
    return None if mean is None else schemas.MeanView(value=mean.value, tasks=mean.tasks)


def _gaps(gaps: Sequence[Gap]) -> list[schemas.GapView]:
    return [schemas.GapView(**gap._asdict(), difference=gap.value) for gap in gaps]


def _steps(gap: StepGap) -> schemas.StepGapView:
    return schemas.StepGapView(**gap._asdict(), difference=gap.value)


def _languages(one: service.Languages) -> schemas.LanguagesView:
    return schemas.LanguagesView(
        agent=one.label, run_en=one.en, run_cn=one.cn, levels=[_level(gap) for gap in one.levels]
    )


def _level(gap: LanguageGap) -> schemas.LanguageGapView:
    return schemas.LanguageGapView(
        level=gap.level,
        s_int_en=gap.en[0],
        s_int_cn=gap.cn[0],
        s_final_en=gap.en[1],
        s_final_cn=gap.cn[1],
        tasks=gap.tasks,
    )
