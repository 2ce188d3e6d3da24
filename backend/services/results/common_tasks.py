"""A leaderboard on the tasks that its rows share, from their current episodes."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models.enums import Dimension
from backend.services.results import measure_rollups, pass_rollups, rollups
from backend.services.results.board_ranking import NONE_IMPORTED, REFERENCES, OutsideRules
from backend.services.results.board_rows import BoardRow, NotRanked, lower_bound, primary_mean, with_rates
from backend.services.results.conditions import RunConditions
from backend.services.results.costs import PassCosts, pass_costs
from backend.services.results.rollups import RollupInputs
from backend.services.runs.summary import summarise


def rank_on_common_tasks(  # noqa: PLR0913 - what the reader chose
    session: Session,
    rows: Sequence[BoardRow],
    conditions: RunConditions,
    measure: str,
    configurations: Sequence[UUID],
    *,
    outside: OutsideRules = NONE_IMPORTED,
) -> tuple[list[BoardRow], int]:
    """Rows by what they scored on the tasks that all chosen ones have a score for.

    Args:
        session: the transaction.
        rows: of a board.
        conditions: those that chosen rows have.
        measure: the primary one.
        configurations: which ones; empty = all with a scored task.
        outside: which imported results are ranked.

    Returns:
        All rows, those that are not chosen with the reason; and the number of common tasks.
    """
    reasons = [_reason(row, conditions, configurations, outside) for row in rows]
    pooled = [
        None if reason else pass_rollups.pool([rollups.gather(session, run_id) for run_id in row.runs])
        for row, reason in zip(rows, reasons, strict=True)
    ]
    scored = [{task.task_id for task in inputs.totals if task.scored} for inputs in pooled if inputs is not None]
    common = set.intersection(*scored) if scored else set()
    return [
        replace(row, reasons=[reason] if reason else [])
        if inputs is None
        else _on(row, inputs, common, measure, pass_costs(session, row.runs, common))
        for row, reason, inputs in zip(rows, reasons, pooled, strict=True)
    ], len(common)


def _reason(
    row: BoardRow, conditions: RunConditions, configurations: Sequence[UUID], outside: OutsideRules
) -> NotRanked | None:
    """Why a row is not ranked on common tasks; None if it is."""
    if row.reference:
        return NotRanked("reference", REFERENCES[row.reference])
    if configurations and row.agent.id not in configurations:
        return NotRanked("not_chosen", "not chosen")
    if reasons := outside.reasons(row):
        return reasons[0]
    if difference := row.conditions.differences(conditions):
        return NotRanked("conditions", difference)
    return None if row.summary.scored_tasks else NotRanked("no_value", "no scored episode")


def _on(row: BoardRow, inputs: RollupInputs, common: set[UUID], measure: str, costs: PassCosts) -> BoardRow:
    """The row with the results of these tasks only."""
    totals = [task for task in inputs.totals if task.task_id in common]
    inputs = RollupInputs(totals, inputs.sums)
    summary = with_rates(summarise(totals), inputs.rates)
    means = rollups.compute(inputs, rollups.whole(inputs), by_task=True).means
    cube = measure_rollups.cube_of(SimpleNamespace(**mean) for mean in means)
    value = primary_mean(summary, cube.get(Dimension.ALL, {}).get("", {}), measure)
    reasons = [] if value is not None else [NotRanked("no_value", f"no value of {measure}")]
    return replace(
        row,
        summary=summary,
        measures=cube,
        by={},
        costs=costs,
        primary=value,
        lower=lower_bound(summary, value, measure, pass_rollups.primary_rates(inputs)),
        reasons=reasons,
    )
