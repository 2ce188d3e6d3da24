"""The same tasks with instructions in English and in Chinese, paired: WindowsWorld's two languages."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.results import checkpoint_analyses as repository
from backend.domain.statistics.checkpoints import REACHING
from backend.domain.statistics.intervals import Interval
from backend.domain.statistics.paired import Pair, difference
from backend.domain.statistics.permutation import sign_flip
from backend.services.configurations.configuration_ref import ConfigurationRef, configuration_ref
from backend.services.read_model import ReadModel
from backend.services.results.board_rows import BoardRow
from backend.services.results.leaderboards import board_version, leaderboard

KIND = "windowsworld"
CHINESE = "language=cn"
MEASURES = ("S_int", "S_final")


class LanguageRow(ReadModel):
    """A measure of one configuration in both languages, over the tasks that have it in both."""

    configuration: ConfigurationRef
    inputs: str
    runs: list[UUID] = Field(description="In English; the first stands for all.")
    chinese_runs: list[UUID]
    measure: str = Field(examples=["S_final"])
    level: str = Field(description="Level of the tasks; empty: all.", examples=["L2"])
    english: float = Field(description="Mean over tasks of the mean over passes.")
    chinese: float
    difference: float = Field(description="Chinese minus English.")
    interval: Interval = Field(description="95 % interval; tasks are resampled.")
    p_value: float = Field(description="Two-sided sign-flip permutation test.")
    tasks: int


class LanguageTable(ReadModel):
    """English against Chinese instructions, task by task, under otherwise equal conditions."""

    benchmark: str
    version: int
    rows: list[LanguageRow]


def language_table(session: Session, benchmark: str, *, version: int | None = None) -> LanguageTable | None:
    """Each configuration with passes in both languages; None for a benchmark of another kind. Raises NotFound."""
    task_set = board_version(session, benchmark, version)
    if task_set.kind != KIND:
        return None
    board = leaderboard(session, benchmark, version=version, dimensions=())
    chinese = {_alike(row): row for row in board.rows if row.run.config.get("variant") == CHINESE}
    pairs = [
        (row, chinese[_alike(row)])
        for row in board.rows
        if not row.run.config.get("variant") and _alike(row) in chinese
    ]
    episodes: dict[UUID, list[AnyRow]] = {}
    for episode in repository.episodes(session, [run for pair in pairs for row in pair for run in row.runs]):
        episodes.setdefault(episode.run_id, []).append(episode)
    rows = [row for english, other in pairs for row in _rows(english, other, episodes)]
    return LanguageTable(benchmark=board.benchmark.name, version=task_set.version, rows=rows)


def _alike(row: BoardRow) -> tuple[UUID, tuple[str, ...]]:
    """Equal for rows that differ in the variant only."""
    return row.agent.id, tuple(words for name, words in row.conditions.parts.items() if name != "variant")


def _rows(english: BoardRow, chinese: BoardRow, episodes: Mapping[UUID, Sequence[AnyRow]]) -> Iterator[LanguageRow]:
    sides = [[episode for run in row.runs for episode in episodes.get(run, ())] for row in (english, chinese)]
    levels = sorted({episode.level for side in sides for episode in side if episode.level})
    for measure in MEASURES:
        for level in ("", *levels):
            first, second = (_by_task(side, measure, level) for side in sides)
            pairs = [Pair(task, first[task], second[task]) for task in sorted(first.keys() & second.keys())]
            if pairs:
                yield _row(english, chinese, measure, level, pairs)


def _by_task(episodes: Sequence[AnyRow], measure: str, level: str) -> dict[str, float]:
    """The mean over passes of each task that has the measure."""
    values: dict[str, list[float]] = {}
    for episode in episodes:
        value = episode.s_int if measure == "S_int" else episode.s_final
        counts = measure != "S_int" or episode.level in REACHING
        if value is not None and counts and level in {"", episode.level}:
            values.setdefault(episode.task, []).append(value)
    return {task: fmean(of) for task, of in values.items()}


def _row(english: BoardRow, chinese: BoardRow, measure: str, level: str, pairs: Sequence[Pair]) -> LanguageRow:
    result = difference(pairs)
    return LanguageRow(
        configuration=configuration_ref(english.agent),
        inputs=str(english.run.config.get("observation") or ""),
        runs=english.runs,
        chinese_runs=chinese.runs,
        measure=measure,
        level=level,
        english=result.base,
        chinese=result.other,
        difference=result.value,
        interval=result.interval,
        p_value=sign_flip([pair.other - pair.base for pair in pairs]).two_sided,
        tasks=len(pairs),
    )


HEAD = ("configuration", "inputs", "runs", "chinese_runs", "measure", "level", "english", "chinese", "difference",
        "low", "high", "p_value", "tasks")  # fmt: skip


def language_rows(table: LanguageTable) -> Iterator[list[object]]:
    """The table's rows, as HEAD names the columns."""
    for row in table.rows:
        runs = [" ".join(map(str, each)) for each in (row.runs, row.chinese_runs)]
        names = [row.configuration.name, row.inputs, *runs, row.measure, row.level]
        yield [*names, row.english, row.chinese, row.difference, *row.interval, row.p_value, row.tasks]
