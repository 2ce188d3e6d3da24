"""REST views of benchmarks, tasks, validation and leaderboards."""

from collections.abc import Mapping, Sequence

from sqlalchemy.orm import Session

from backend.db import models
from backend.db.models.enums import Dimension
from backend.db.repositories.benchmarks import benchmark_parts as parts
from backend.domain.model.measures import info
from backend.services.benchmarks.benchmarks import list_task_sets
from backend.services.benchmarks.lint import TaskFinding, unknown_of
from backend.services.benchmarks.variants import known_variants
from backend.services.benchmarks.versions import TaskSetDifference
from backend.services.results.leaderboards import BenchmarkBoard, BoardRow
from backend.services.results.measure_rollups import Means
from backend.services.runs.summary import RunSummary
from backend.services.runs.validation import TaskVerdict, ValidationReport
from backend.services.runs.views.run import TaskSetRef
from backend.web.benchmarks import schemas


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
        task_set=TaskSetRef.model_validate(newest) if newest else None,
        versions=len(versions),
        tasks=int(counts.get("tasks", 0)),
        infeasible=int(counts.get("infeasible", 0)),
        domains=counts.get("domains", {}),
        difficulties=counts.get("difficulties", {}),
        levels=counts.get("levels", {}),
        disciplines=counts.get("disciplines", {}),
        selections={name: len(keys) for name, keys in parts.selections(session, newest.id).items()} if newest else {},
        variants=known_variants(session, newest.id) if newest else {},
        unknown=list(unknown_of(session, newest)) if newest else [],
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
        "human_seconds": row.human_seconds,
        "human_steps": row.human_steps,
        "quarantined": quarantined,
    }


def validation(verdict: TaskVerdict) -> schemas.Validation:
    """Validation result of one task."""
    return schemas.Validation(
        task=verdict.task.key,
        feasible=verdict.task.feasible,
        oracle=verdict.scores.get("oracle"),
        noop=verdict.scores.get("noop"),
        always_fail=verdict.scores.get("always_fail"),
        sound=verdict.sound,
        reason=verdict.reason,
    )


def report(report: ValidationReport) -> schemas.ValidationReportView:
    """The newest validation of a benchmark."""
    stuck = sum(verdict.reason.startswith("not runnable here") for verdict in report.tasks)
    return schemas.ValidationReportView(
        benchmark=report.benchmark,
        done=report.done,
        ok=report.ok,
        runs={agent: run.id for agent, run in report.runs.items()},
        sound=report.count(sound=True),
        unsound=report.count(sound=False),
        not_runnable=stuck,
        tasks=[validation(verdict) for verdict in report.tasks],
    )


def leaderboard(board: BenchmarkBoard) -> schemas.Leaderboard:
    return schemas.Leaderboard(
        benchmark=board.benchmark.name,
        task_set=TaskSetRef.model_validate(board.task_set),
        tasks=board.tasks,
        as_of=board.as_of,
        stale=board.stale,
        rows=[_row(row, board.tasks) for row in board.rows],
        measures={
            name: schemas.MeasureDefinition(title=info(name).title, text=info(name).text) for name in board.measures
        },
        reported=[reported(row) for row in board.reported],
    )


def reported(row: models.PublishedResult) -> schemas.ReportedView:
    return schemas.ReportedView(
        source=row.source,
        agent=row.agent,
        observation=row.observation,
        measure=row.measure,
        group_kind=row.group_kind,
        group=row.group_name,
        value=row.value,
        unit=row.unit,
        note=row.note,
    )


def difference(difference: TaskSetDifference) -> schemas.DifferenceView:
    """What two task sets differ in."""
    return schemas.DifferenceView(
        old=f"{difference.old_name.partition('@')[0]}@{difference.old.version}",
        new=f"{difference.new_name.partition('@')[0]}@{difference.new.version}",
        added=difference.count("added"),
        removed=difference.count("removed"),
        changed=difference.count("changed"),
        same=difference.same,
        tasks=[
            schemas.TaskChangeView.model_validate(
                {**item.change.model_dump(), "episodes": item.episodes, "evaluations": item.evaluations}
            )
            for item in difference.tasks
        ],
    )


def lint_report(name: str, task_set: models.TaskSet, task_findings: Sequence[TaskFinding]) -> schemas.LintReport:
    """Findings of a task set."""
    findings = [
        schemas.LintFinding(
            task=item.task,
            path=item.finding.place,
            message=item.finding.message,
            hint=item.finding.hint,
            severity=item.finding.severity,
        )
        for item in task_findings
    ]
    ok = not any(item.severity == "error" for item in findings)
    tasks = int(task_set.counts.get("tasks", 0))
    return schemas.LintReport(benchmark=name, ok=ok, tasks=tasks, findings=findings)


def _row(row: BoardRow, tasks: int) -> schemas.LeaderboardRow:
    return schemas.LeaderboardRow(
        rank=row.standing.rank if row.standing else None,
        tie_group=row.standing.group if row.standing else None,
        agent=row.agent.name,
        params=row.agent.params,
        mark=row.mark,
        variant=row.run.config.get("variant"),
        runs=[row.run.id, *row.others],
        summary=row.summary,
        tasks=tasks - row.missing_tasks,
        missing_tasks=row.missing_tasks,
        by_domain=_cut(row, Dimension.DOMAIN),
        by_difficulty=_cut(row, Dimension.DIFFICULTY),
        by_level=_cut(row, Dimension.LEVEL),
        by_capability=_cut(row, Dimension.CAPABILITY),
        by_complexity=_cut(row, Dimension.COMPLEXITY),
        measures=means(row.means),
        measures_by={
            dimension.value: {key: means(cell) for key, cell in cells.items()}
            for dimension, cells in row.measures.items()
            if dimension is not Dimension.ALL
        },
    )


def means(by_name: Means) -> dict[str, schemas.MeasureView]:
    """Measures by name."""
    return {
        name: schemas.MeasureView(
            mean=one.mean, interval=tuple(one.interval), n=one.n, tasks=one.tasks, undefined_tasks=one.undefined_tasks
        )
        for name, one in by_name.items()
    }


def _cut(row: BoardRow, dimension: Dimension) -> Mapping[str, RunSummary]:
    return row.by.get(dimension, {})
