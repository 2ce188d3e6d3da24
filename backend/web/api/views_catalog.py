"""Records as the API gives them: benchmarks, tasks, validation, leaderboards."""

from collections.abc import Mapping

from sqlalchemy.orm import Session

from backend.db import models
from backend.db.models.words import Dimension
from backend.services.benchmarks import list_task_sets
from backend.services.leaderboards import Board, Row
from backend.services.validation import TaskVerdict, ValidationReport
from backend.web.api import schemas_catalog as schemas
from backend.web.api.schemas import Summary
from backend.web.api.views_runs import summary, task_set


def benchmark(session: Session, row: models.Benchmark) -> schemas.BenchmarkView:
    """A benchmark at its newest version."""
    versions = list_task_sets(session, row.name)
    newest = versions[0] if versions else None
    counts = newest.counts if newest else {}
    return schemas.BenchmarkView(
        id=row.id,
        name=row.name,
        title=row.title,
        kind=row.kind,
        licence=row.licence,
        source=row.source,
        task_set=task_set(newest) if newest else None,
        versions=len(versions),
        tasks=int(counts.get("tasks", 0)),
        domains=counts.get("domains", {}),
        difficulties=counts.get("difficulties", {}),
        warnings=[str(warning) for warning in newest.warnings] if newest else [],
    )


def task_fields(row: models.Task, name: str, quarantined: str) -> dict[str, object]:
    """What lists and details show of a task."""
    return {
        "id": row.id,
        "task": row.key,
        "benchmark": name,
        "domain": row.domain,
        "name": row.name,
        "instruction": row.instruction,
        "dialect": row.dialect,
        "difficulty": row.difficulty,
        "difficulty_source": row.difficulty_source,
        "level": row.level,
        "os": row.os,
        "feasible": row.feasible,
        "apps": row.apps,
        "requires": row.requires,
        "quarantined": quarantined,
    }


def validation(verdict: TaskVerdict) -> schemas.Validation:
    """What is known about one task."""
    return schemas.Validation(
        task=verdict.task.key,
        feasible=verdict.task.feasible,
        oracle=verdict.scores.get("oracle"),
        noop=verdict.scores.get("noop"),
        always_fail=verdict.scores.get("always_fail"),
        sound=verdict.sound,
        reason=verdict.reason,
    )


def report(found: ValidationReport) -> schemas.ValidationReport:
    """The newest validation of a benchmark."""
    stuck = sum(verdict.reason.startswith("not runnable here") for verdict in found.tasks)
    return schemas.ValidationReport(
        benchmark=found.benchmark,
        done=found.done,
        ok=found.ok,
        runs={agent: run.id for agent, run in found.runs.items()},
        sound=found.count(sound=True),
        unsound=found.count(sound=False),
        not_runnable=stuck,
        tasks=[validation(verdict) for verdict in found.tasks],
    )


def leaderboard(board: Board) -> schemas.Leaderboard:
    """A board."""
    return schemas.Leaderboard(
        benchmark=board.benchmark.name,
        task_set=task_set(board.task_set),
        tasks=board.tasks,
        rows=[_row(row, board.tasks) for row in board.rows],
    )


def _row(row: Row, tasks: int) -> schemas.LeaderboardRow:
    return schemas.LeaderboardRow(
        rank=row.standing.rank if row.standing else None,
        tie_group=row.standing.group if row.standing else None,
        agent=row.agent.name,
        params=row.agent.params,
        mark=row.mark,
        runs=[row.run.id, *row.others],
        summary=summary(row.summary),
        tasks=tasks - row.missing_tasks,
        missing_tasks=row.missing_tasks,
        by_domain=_cut(row, Dimension.DOMAIN),
        by_difficulty=_cut(row, Dimension.DIFFICULTY),
    )


def _cut(row: Row, dimension: Dimension) -> Mapping[str, Summary]:
    return {key: summary(found) for key, found in row.by.get(dimension, {}).items()}
