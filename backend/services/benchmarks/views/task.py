"""View of a task."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.models import Task, TaskValidation
from backend.db.repositories.benchmarks import benchmark_parts
from backend.db.repositories.benchmarks import benchmarks_view as repository
from backend.db.repositories.benchmarks import quarantine as quarantine_repository
from backend.db.repositories.common_queries import AnyRow
from backend.domain.benchmarks import external_assets
from backend.domain.errors import NotFound
from backend.domain.model import task as domain
from backend.domain.model.task import Difficulty, DifficultySource
from backend.services.benchmarks.task_validation import Validation, validation_of
from backend.services.benchmarks.views.benchmark import TaskSetRef
from backend.services.benchmarks.views.quarantine import QuarantineView, history_of
from backend.services.read_model import ReadModel


class TaskView(ReadModel):
    """One task, as lists show it."""

    id: UUID
    task: str = Field(description="domain/name", examples=["files/rename-report"])
    benchmark: str
    domain: str
    name: str
    instruction: str
    dialect: str
    difficulty: Difficulty | None = None
    difficulty_source: DifficultySource | None = None
    level: str | None = None
    os: str = "linux"
    feasible: bool = True
    apps: list[str] = Field(default=[])
    requires: list[str] = Field(default=[])
    licences: dict[str, int] = Field(default={}, description="Seats that an attempt takes, by licence.")
    human_seconds: float | None = None
    human_steps: int | None = None
    labels: dict[str, list[str]] = Field(
        default={}, description="All labels, flat.", examples=[{"level": ["L2"], "feasible": ["yes"]}]
    )
    quarantined: str = Field(default="", description="Why it is in quarantine; empty = it is not.")


class TaskDetail(TaskView):
    """One task in full. `spec` has everything that determines how it runs and is scored."""

    task_set: TaskSetRef
    content_hash: str
    spec: dict[str, Any]
    variants: dict[str, dict[str, Any]] = Field(
        default={}, description="`spec` under other conditions, by `axis=value`.", examples=[{}]
    )
    assets: list[str] = Field(default=[], description="Addresses of the files of the web that the task needs.")
    validation: Validation
    quarantines: list[QuarantineView] = Field(default=[], description="Newest first; the one in force has no end.")


def task_views(session: Session, benchmark: str, rows: Sequence[Task]) -> list[TaskView]:
    """Tasks of a benchmark in their order."""
    quarantines = quarantine_repository.in_force(session, [row.id for row in rows])
    return [task_view(row, benchmark, quarantines[row.id].reason if row.id in quarantines else "") for row in rows]


def task_view(row: Task, benchmark: str, quarantined: str) -> TaskView:
    """A task; `quarantined` says why it is in quarantine, empty if it is not."""
    return TaskView(
        id=row.id,
        task=row.key,
        benchmark=benchmark,
        domain=row.domain,
        name=row.name,
        instruction=row.instruction,
        dialect=row.dialect,
        difficulty=row.difficulty,
        difficulty_source=row.difficulty_source,
        level=row.level,
        os=row.os,
        feasible=row.feasible,
        apps=row.apps,
        requires=row.requires,
        licences=row.licences or {},
        human_seconds=row.human_seconds,
        human_steps=row.human_steps,
        labels=row.labels,
        quarantined=quarantined,
    )


def task_row(session: Session, task_id: UUID) -> AnyRow:
    """(Task, benchmark, TaskSet, quarantined). Raises NotFound."""
    row = repository.task(session, task_id)
    if row is None:
        raise NotFound("Task not found.", code="task_not_found", hint="Look for it on its benchmark's page.")
    return row


def task_detail(session: Session, row: AnyRow) -> TaskDetail:
    """A row of `task_row` in full."""
    task: Task = row.Task
    return TaskDetail(
        **dict(task_view(task, row.benchmark, row.quarantined or "")),
        task_set=TaskSetRef.model_validate(row.TaskSet),
        content_hash=task.content_hash,
        spec=task.spec,
        variants={f"{item.axis}={item.value}": item.spec for item in benchmark_parts.variants_of(session, [task.id])},
        assets=list(external_assets(domain.Task.model_validate(task.spec))),
        validation=validations_of(session, [task])[task.id],
        quarantines=history_of(session, task.id),
    )


def validations_of(session: Session, tasks: Sequence[Task]) -> Mapping[UUID, Validation]:
    """The newest results of the validation agents, by task."""
    results = results_of(session, tasks)
    return {task.id: validation_of(task, results[task.id]) for task in tasks}


def results_of(session: Session, tasks: Sequence[Task]) -> Mapping[UUID, Mapping[str, TaskValidation]]:
    """The newest result of each validation agent, by task."""
    results: dict[UUID, dict[str, TaskValidation]] = {task.id: {} for task in tasks}
    for row in repository.validations(session, list(results)):
        results[row.task_id][row.agent] = row
    return results
