"""WindowsWorld's analyses of a leaderboard's runs: intermediate versus final results."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.repositories.results import checkpoint_analyses as repository
from backend.db.repositories.results import leaderboards as boards
from backend.db.repositories.results.leaderboards import RunCondition
from backend.domain.errors import Invalid, NotFound
from backend.domain.statistics import checkpoints
from backend.domain.statistics.checkpoints import Mean, ScoredEpisode
from backend.services.benchmarks.benchmarks import get_benchmark
from backend.services.configurations.configuration_ref import ConfigurationRef, configuration_ref
from backend.services.read_model import ReadModel
from backend.services.results.leaderboards import board_version

KIND = "windowsworld"
MOST = 12
"""Maximum runs on one page; the address may name others."""


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
    """One agent configuration, with all its passes pooled."""

    run_id: UUID = Field(description="Of its run with most scored tasks, which stands for all.")
    agent: str
    configuration: ConfigurationRef
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

    @property
    def label(self) -> str:
        """The configuration's name, with the variant of the tasks."""
        return f"{self.configuration.name} ({self.variant})" if self.variant else self.configuration.name


class LanguageGapView(ReadModel):
    """Chinese against English instructions on one level, over tasks with both."""

    level: str
    s_int_en: float | None = None
    s_int_cn: float | None = None
    s_final_en: float | None = None
    s_final_cn: float | None = None
    tasks: int
    s_int_difference: float | None = Field(description="Chinese minus English.")
    s_final_difference: float | None


class LanguagesView(ReadModel):
    """One configuration with both instruction languages."""

    configuration: ConfigurationRef
    run_en: UUID
    run_cn: UUID
    levels: list[LanguageGapView] = Field(default=[])


class AnalysesView(ReadModel):
    """Intermediate versus final results, on a benchmark's newest version with runs."""

    benchmark: str = Field(examples=["windowsworld"])
    version: int
    runs: list[RunAnalysisView] = Field(default=[])
    languages: list[LanguagesView] = Field(default=[])
    more: int = Field(default=0, description="Further runs on the board; ask for them by `run`.")

    def keys(self, field: str) -> list[str]:
        """Groups that a run has in `by_level`, `by_persona` or `by_apps`."""
        return sorted({gap.key for run in self.runs for gap in getattr(run, field)})


def analyses(session: Session, benchmark: str, run_ids: Sequence[UUID] = ()) -> AnalysesView:
    """Analyses of the runs on the benchmark's leaderboard.

    Args:
        session: the transaction.
        benchmark: its name; its tasks are in WindowsWorld's form.
        run_ids: which runs; none = the newest ones, at most MOST.

    Raises:
        NotFound: the benchmark does not exist, or a run is not on its leaderboard.
        Invalid: Its tasks have no such checkpoints.
    """
    benchmark_row = get_benchmark(session, benchmark)
    if benchmark_row.kind != KIND:
        raise Invalid(
            f"the tasks of {benchmark!r} have no checkpoints in WindowsWorld's form",
            code="wrong_benchmark_kind",
            path="benchmark",
            hint=f"Choose a benchmark of the kind {KIND}; this one is of the kind {benchmark_row.kind}.",
        )
    task_set = board_version(session, benchmark, None)
    run_conditions = boards.conditions(session, task_set.id)
    conditions = _select_runs(run_conditions, run_ids)
    counted: dict[UUID, list[ScoredEpisode]] = {}
    seconds: dict[UUID, float] = {}
    first_of = {run_id: row.run.id for row in conditions for run_id in (row.run.id, *row.others)}
    for row in repository.episodes(session, list(first_of)):
        values, run_id = row._mapping, first_of[row.run_id]  # noqa: SLF001 - SQLAlchemy's public name for it.
        counted.setdefault(run_id, []).append(ScoredEpisode(*(values[name] for name in ScoredEpisode._fields)))
        seconds[run_id] = seconds.get(run_id, 0.0) + row.agent_seconds
    return AnalysesView(
        benchmark=benchmark,
        version=task_set.version,
        runs=[_run(row, counted.get(row.run.id, []), seconds.get(row.run.id, 0.0)) for row in conditions],
        languages=_languages(conditions, counted),
        more=0 if run_ids else max(0, len(run_conditions) - MOST),
    )


def _select_runs(conditions: Sequence[RunCondition], run_ids: Sequence[UUID]) -> list[RunCondition]:
    newest = sorted(conditions, key=lambda row: row.run.id, reverse=True)
    if not run_ids:
        return newest[:MOST]
    by_id = {row.run.id: row for row in newest}
    missing = [run_id for run_id in run_ids if run_id not in by_id]
    if missing:
        raise NotFound(
            f"run {missing[0]} is not on this leaderboard",
            code="run_not_ranked",
            hint="Choose runs of its ranked rows.",
        )
    return [by_id[run_id] for run_id in dict.fromkeys(run_ids)][:MOST]


def _run(condition: RunCondition, rows: list[ScoredEpisode], seconds: float) -> RunAnalysisView:
    config, steps = condition.run.config, sum(row.steps for row in rows)
    return RunAnalysisView(
        run_id=condition.run.id,
        agent=condition.agent.name,
        configuration=configuration_ref(condition.agent),
        model=str((config.get("params") or {}).get("model") or ""),
        observation=str(config.get("observation") or ""),
        variant=str(config.get("variant") or ""),
        episodes=len(rows),
        s_int=_mean(checkpoints.agent_s_int(rows)),
        s_int_pooled=checkpoints.pooled_s_int(rows),
        s_final=_mean(checkpoints.agent_s_final(rows)),
        by_level=_gaps(rows, lambda row: row.level),
        by_persona=_gaps(rows, lambda row: row.persona),
        by_apps=_gaps(rows, lambda row: str(row.apps)),
        steps=[StepGapView.model_validate(gap) for gap in checkpoints.step_gaps(rows)],
        latency=seconds / steps if steps else None,
    )


def _languages(conditions: Sequence[RunCondition], counted: Mapping[UUID, list[ScoredEpisode]]) -> list[LanguagesView]:
    """Runs that differ only in the instruction language."""
    pairs: dict[str, dict[str, RunCondition]] = {}
    for condition in conditions:
        variant = condition.run.config.get("variant")
        if variant in {None, "language=cn"}:
            pairs.setdefault(_alike(condition), {})["cn" if variant else "en"] = condition
    return [
        LanguagesView(
            configuration=configuration_ref(pair["en"].agent),
            run_en=pair["en"].run.id,
            run_cn=pair["cn"].run.id,
            levels=_levels(counted.get(pair["en"].run.id, []), counted.get(pair["cn"].run.id, [])),
        )
        for pair in pairs.values()
        if len(pair) > 1
    ]


def _alike(condition: RunCondition) -> str:
    run = condition.run
    config: dict[str, Any] = {key: run.config[key] for key in sorted(run.config) if key not in _NO_CONDITION}
    return f"{run.agent_configuration_id} {run.provider} {config!r}"


_NO_CONDITION = frozenset({"variant", "tasks", "where", "repeats", "seed"})


def _mean(mean: Mean | None) -> MeanView | None:
    return None if mean is None else MeanView.model_validate(mean)


def _gaps(rows: Sequence[ScoredEpisode], key: Callable[[ScoredEpisode], str]) -> list[GapView]:
    return [GapView.model_validate(gap) for gap in checkpoints.gaps(rows, key)]


def _levels(en: Sequence[ScoredEpisode], cn: Sequence[ScoredEpisode]) -> list[LanguageGapView]:
    return [
        LanguageGapView(
            level=gap.level,
            s_int_en=gap.en[0],
            s_int_cn=gap.cn[0],
            s_final_en=gap.en[1],
            s_final_cn=gap.cn[1],
            tasks=gap.tasks,
            s_int_difference=gap.differences[0],
            s_final_difference=gap.differences[1],
        )
        for gap in checkpoints.language_gaps(en, cn)
    ]
