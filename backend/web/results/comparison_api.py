"""Comparison of runs, and the test for a regression against a baseline."""

from typing import Annotated
from uuid import UUID

from fastapi import Query

from backend.services.results.conditions import KEY_LENGTH
from backend.services.results.views.compared_sides import ComparedSides
from backend.services.results.views.comparison import ALPHA, MOST_RUNS, compare_sides, regression_of
from backend.services.results.views.comparison_models import RegressionReport, RunComparison
from backend.services.results.views.episode_pair import EpisodeAlignment, episode_pair
from backend.web.api_common import Id, api_router
from backend.web.dependencies import SessionDep

router = api_router("compare")


@router.get("/compare")
def compare(  # noqa: PLR0913 - one parameter per part of the address
    session: SessionDep,
    *,
    run: Annotated[list[UUID], Query(max_length=MOST_RUNS, description="2 to 8 runs; the first one is the base.")] = [],  # noqa: B006 - FastAPI's own form of it
    configuration: Annotated[
        list[UUID],
        Query(max_length=MOST_RUNS, description="In place of runs: 2 to 8 configurations with all their passes."),
    ] = [],  # noqa: B006 - FastAPI's own form of it
    benchmark: Annotated[
        str, Query(max_length=100, description="With `configuration`: the board's; default: where all have runs.")
    ] = "",
    version: Annotated[
        int | None,
        Query(
            ge=1,
            le=2**31,
            description="With `configuration`: of the task set, as on the board; default: the newest with all.",
        ),
    ] = None,
    conditions: Annotated[
        str | None, Query(max_length=KEY_LENGTH, description="With `configuration`: key, as on the board.")
    ] = None,
    label: Annotated[
        str | None, Query(max_length=100, description="Label of the tasks to cut by.", examples=["domain"])
    ] = None,
) -> RunComparison:
    """Compare runs of one benchmark, or configurations on its board, on their common tasks."""
    sides = ComparedSides(
        runs=run, configurations=configuration, benchmark=benchmark, version=version, conditions=conditions
    )
    return compare_sides(session, sides, label)


@router.get("/compare/episodes")
def compare_episodes(
    session: SessionDep, episode: Annotated[list[UUID], Query(max_length=10, description="Two episodes.")]
) -> EpisodeAlignment:
    """Align the steps of two episodes' newest attempts by action, target and screen."""
    return episode_pair(session, episode).alignment


@router.get("/runs/{run_id}/regression")
def regression(
    session: SessionDep,
    run_id: Id,
    baseline: Annotated[UUID, Query(description="The run to compare with.")],
    alpha: Annotated[float, Query(gt=0, lt=1, description="Probability of a false alarm.")] = ALPHA,
) -> RegressionReport:
    """Test whether a run scores lower than a baseline on their common tasks."""
    return regression_of(session, run_id, baseline, alpha)
