"""WindowsWorld's analyses of a leaderboard's runs: intermediate versus final results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.repositories.results import checkpoint_analyses as repository
from backend.db.repositories.results import leaderboards as boards
from backend.db.repositories.results.leaderboards import RunCondition
from backend.domain.errors import Invalid, NotFound
from backend.domain.statistics import checkpoints
from backend.domain.statistics.checkpoints import Gap, LanguageGap, Mean, ScoredEpisode, StepGap
from backend.services.benchmarks.benchmarks import get_benchmark, latest_task_set

KIND = "windowsworld"
MOST = 12
"""Maximum runs on one page; the address may name others."""


@dataclass(frozen=True)
class RunAnalysis:
    """One agent configuration.

    Attributes:
        run_id: representing run.
        agent, model, observation, variant: of its configuration; empty = default.
        episodes: number of scored ones.
        latency: the agent's own seconds per step; None without steps.
    """

    run_id: UUID
    agent: str
    model: str
    observation: str
    variant: str
    episodes: int
    s_int: Mean | None
    pooled: float | None
    s_final: Mean | None
    by_level: Sequence[Gap]
    by_persona: Sequence[Gap]
    by_apps: Sequence[Gap]
    steps: Sequence[StepGap]
    latency: float | None

    @property
    def label(self) -> str:
        """The configuration as text."""
        more = [word for word in (self.model, self.observation, self.variant) if word]
        return f"{self.agent} ({', '.join(more)})" if more else self.agent


@dataclass(frozen=True)
class Languages:
    """One configuration with both instruction languages."""

    label: str
    en: UUID
    cn: UUID
    levels: Sequence[LanguageGap]


@dataclass(frozen=True)
class Analyses:
    """All analyses of a benchmark's newest version."""

    benchmark: str
    version: int
    runs: Sequence[RunAnalysis]
    languages: Sequence[Languages]
    more: int = 0
    keys: Mapping[str, Sequence[str]] = field(default_factory=dict)


def analyses(session: Session, benchmark: str, run_ids: Sequence[UUID] = ()) -> Analyses:
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
            f"{benchmark!r} is a {benchmark_row.kind} benchmark",
            code="wrong_benchmark_kind",
            path="benchmark",
            hint=f"These are for {KIND}.",
        )
    task_set = latest_task_set(session, benchmark)
    known = boards.conditions(session, task_set.id)
    chosen = _select_runs(known, run_ids)
    counted: dict[UUID, list[ScoredEpisode]] = {}
    seconds: dict[UUID, float] = {}
    for row in repository.episodes(session, [condition.run.id for condition in chosen]):
        values = row._mapping  # noqa: SLF001 - SQLAlchemy's public name for it.
        counted.setdefault(row.run_id, []).append(ScoredEpisode(*(values[name] for name in ScoredEpisode._fields)))
        seconds[row.run_id] = seconds.get(row.run_id, 0.0) + row.agent_seconds
    runs = [_run(one, counted.get(one.run.id, []), seconds.get(one.run.id, 0.0)) for one in chosen]
    return Analyses(
        benchmark,
        task_set.version,
        runs,
        _languages(chosen, counted),
        more=0 if run_ids else max(0, len(known) - MOST),
        keys={name: _keys(runs, name) for name in ("by_level", "by_persona", "by_apps")},
    )


def _select_runs(known: Sequence[RunCondition], run_ids: Sequence[UUID]) -> list[RunCondition]:
    newest = sorted(known, key=lambda one: one.run.id, reverse=True)
    if not run_ids:
        return newest[:MOST]
    by_id = {one.run.id: one for one in newest}
    missing = [run_id for run_id in run_ids if run_id not in by_id]
    if missing:
        raise NotFound(
            f"run {missing[0]} is not on this leaderboard",
            code="run_not_ranked",
            hint="Choose runs of its ranked rows.",
        )
    return [by_id[run_id] for run_id in dict.fromkeys(run_ids)][:MOST]


def _run(condition: RunCondition, rows: list[ScoredEpisode], seconds: float) -> RunAnalysis:
    config, steps = condition.run.config, sum(row.steps for row in rows)
    return RunAnalysis(
        run_id=condition.run.id,
        agent=condition.agent.name,
        model=str((config.get("params") or {}).get("model") or ""),
        observation=str(config.get("observation") or ""),
        variant=str(config.get("variant") or ""),
        episodes=len(rows),
        s_int=checkpoints.agent_s_int(rows),
        pooled=checkpoints.pooled_s_int(rows),
        s_final=checkpoints.agent_s_final(rows),
        by_level=checkpoints.gaps(rows, lambda row: row.level),
        by_persona=checkpoints.gaps(rows, lambda row: row.persona),
        by_apps=checkpoints.gaps(rows, lambda row: str(row.apps)),
        steps=checkpoints.step_gaps(rows),
        latency=seconds / steps if steps else None,
    )


def _languages(chosen: Sequence[RunCondition], counted: Mapping[UUID, list[ScoredEpisode]]) -> list[Languages]:
    """Runs that differ only in the instruction language."""
    pairs: dict[str, dict[str, RunCondition]] = {}
    for condition in chosen:
        variant = condition.run.config.get("variant")
        if variant in {None, "language=cn"}:
            pairs.setdefault(_alike(condition), {})["cn" if variant else "en"] = condition
    return [
        Languages(
            _run(pair["en"], [], 0.0).label,
            pair["en"].run.id,
            pair["cn"].run.id,
            checkpoints.language_gaps(counted.get(pair["en"].run.id, []), counted.get(pair["cn"].run.id, [])),
        )
        for pair in pairs.values()
        if len(pair) > 1
    ]


def _alike(condition: RunCondition) -> str:
    run = condition.run
    config: dict[str, Any] = {key: run.config[key] for key in sorted(run.config) if key not in _NO_CONDITION}
    return f"{run.agent_configuration_id} {run.provider} {config!r}"


_NO_CONDITION = frozenset({"variant", "tasks", "repeats", "seed"})


def _keys(runs: Sequence[RunAnalysis], name: str) -> list[str]:
    return sorted({gap.key for run in runs for gap in getattr(run, name)})
