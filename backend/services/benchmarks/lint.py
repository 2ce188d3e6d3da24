"""Problems of a stored task set, and what is not supported here."""

from typing import Literal
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.models import TaskSet
from backend.db.repositories.benchmarks import benchmark_parts as repository
from backend.db.repositories.benchmarks import benchmarks as benchmark_repository
from backend.db.repositories.benchmarks import tasks as task_repository
from backend.domain.benchmarks import TaskLintFinding
from backend.domain.model.task import Task
from backend.services.benchmarks.benchmarks import latest_task_set
from backend.services.benchmarks.unsupported import TaskFinding, lines, stored_lines, task_findings, variant_name
from backend.services.lru_cache import LruCache
from backend.services.read_model import ReadModel

_unknown: LruCache[UUID, tuple[str, ...]] = LruCache(32)


class LintFinding(ReadModel):
    """A problem of a task."""

    task: str = Field(examples=["files/rename-report"])
    path: str = Field(examples=["evaluator.calls.0.func"])
    message: str
    hint: str
    severity: Literal["error", "warning"]


class LintReport(ReadModel):
    """All findings of a benchmark; `ok` when none of them is an error."""

    benchmark: str
    ok: bool
    tasks: int
    findings: list[LintFinding]


def lint_report(session: Session, name: str) -> LintReport:
    """Findings of all tasks of a benchmark's newest version. Raises NotFound."""
    task_set = latest_task_set(session, name)
    rows = [(row.task, row.finding) for row in lint_task_set(session, task_set)]
    return LintReport(
        benchmark=name,
        ok=not any(finding.severity == "error" for _, finding in rows),
        tasks=int(task_set.counts.get("tasks", 0)),
        findings=[
            LintFinding(
                task=task, path=finding.path, message=finding.message, hint=finding.hint, severity=finding.severity
            )
            for task, finding in rows
        ],
    )


def lint_task_set(session: Session, task_set: TaskSet) -> list[TaskFinding]:
    """All findings of a task set and its variants, in import order; then the import's warnings."""
    assets = benchmark_repository.assets(session, task_set.id)
    rows = [(row.key, row.spec) for row in task_repository.all_of(session, task_set.id)]
    rows += [
        (variant_name(row.key, variant.axis, variant.value), variant.spec)
        for row, variant in repository.variants_of_set(session, task_set.id)
    ]
    odd = [TaskLintFinding(path="", message=str(warning), severity="warning") for warning in task_set.warnings]
    own = task_findings(((key, Task.model_validate(spec)) for key, spec in rows), assets)
    return own + [TaskFinding("", finding) for finding in odd]


def unknown_of(session: Session, task_set: TaskSet) -> tuple[str, ...]:
    """Unsupported set-up steps, getters, metrics and parameters of a task set: `task: place: what`.

    Neither a task set nor a process's plug-ins change, so the result is cached.
    """
    stored = stored_lines(task_set)
    if stored is not None:
        return stored
    return _unknown.get_or_make(task_set.id, lambda: lines(lint_task_set(session, task_set)))
