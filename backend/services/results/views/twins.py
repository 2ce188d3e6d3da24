"""Tasks and their twins on another system, paired: OSWorld's table 7."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.models import Run
from backend.db.repositories.results import twins as repository
from backend.domain.benchmarks import reported_results
from backend.domain.statistics.correlation import pearson
from backend.services.read_model import ReadModel
from backend.services.results.board_rows import BoardRow
from backend.services.results.conditions import conditions_of
from backend.services.results.leaderboards import board_version, leaderboard
from backend.services.results.leaderboards import label as row_label

SOURCE = "OSWorld paper, Table 7"
_OF_THE_SYSTEM = frozenset({"provider", "image"})
"""Conditions in which a run on Windows and one on Ubuntu cannot be equal."""


class TwinRow(ReadModel):
    """One configuration on both systems; `run_id` is null in the published row."""

    agent: str
    inputs: str
    run_id: UUID | None = None
    twin_run_id: UUID | None = None
    ubuntu: str = Field(description="Mean score in percent, over the pairs that both runs have scored.")
    windows: str
    correlation: str = Field(description="Pearson's, over these pairs; empty where a side has one score only.")
    pairs: int | None = None


class TwinTable(ReadModel):
    """Windows tasks paired with the Ubuntu tasks that they were made from."""

    benchmark: str
    tasks: int = Field(description="Windows tasks with a twin.")
    source: str = SOURCE
    published: list[TwinRow]
    own: list[TwinRow]


def twin_table(session: Session, benchmark: str, *, version: int | None = None) -> TwinTable | None:
    """The pairs of a Windows benchmark's rows; None if its tasks have no twins. Raises NotFound."""
    task_set = board_version(session, benchmark, version)
    twins = repository.twins(session, task_set.id)
    if not twins:
        return None
    board = leaderboard(session, benchmark, version=version, dimensions=())
    agents = {row.run.agent_configuration_id for row in board.rows}
    others = repository.other_runs(session, task_set.kind, task_set.id, agents)
    scores: dict[UUID, dict[str, float]] = {}
    for row in repository.scores(session, [*(row.run.id for row in board.rows), *(run.id for run in others)]):
        scores.setdefault(row.run, {})[row.key] = row.score
    own = [_paired(row, others, twins, scores) for row in board.rows]
    return TwinTable(benchmark=benchmark, tasks=len(twins), published=_published(), own=[row for row in own if row])


def _paired(
    row: BoardRow, others: Sequence[Run], twins: Mapping[str, str], scores: Mapping[UUID, Mapping[str, float]]
) -> TwinRow | None:
    """The row with the run on Ubuntu that shares most pairs, the newest of equal ones."""
    windows = scores.get(row.run.id, {})
    own = _alike(row.run)
    alike = [run for run in others if _alike(run) == own]
    best: list[tuple[float, float]] = []
    twin_run: Run | None = None
    for run in alike:
        ubuntu = scores.get(run.id, {})
        pairs = [(ubuntu[twin], windows[key]) for key, twin in twins.items() if key in windows and twin in ubuntu]
        if len(pairs) > len(best):
            best, twin_run = pairs, run
    if twin_run is None:
        return None
    first, second = [pair[0] for pair in best], [pair[1] for pair in best]
    correlation = pearson(first, second)
    return TwinRow(
        agent=row_label(row),
        inputs=str(row.run.config.get("observation") or ""),
        run_id=row.run.id,
        twin_run_id=twin_run.id,
        ubuntu=f"{100 * fmean(first):.2f}",
        windows=f"{100 * fmean(second):.2f}",
        correlation="" if correlation is None else f"{correlation:.2f}",
        pairs=len(best),
    )


def _alike(run: Run) -> tuple[UUID, dict[str, str]]:
    """Equal for runs that may be paired: of one configuration, under conditions that differ in the system only."""
    parts = conditions_of(run.config).parts
    return run.agent_configuration_id, {name: words for name, words in parts.items() if name not in _OF_THE_SYSTEM}


def _published() -> list[TwinRow]:
    """The paper's row."""
    figures = [figure for figure in reported_results("osworld") if figure.source == SOURCE]
    printed = {figure.group: figure.printed for figure in figures}
    return [
        TwinRow(
            agent=figures[0].agent,
            inputs=figures[0].inputs,
            ubuntu=printed["Ubuntu"],
            windows=printed["Windows"],
            correlation=printed["Ubuntu and Windows"],
        )
    ]
