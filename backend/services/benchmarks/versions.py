"""Names of task sets (`osworld`, `osworld@2`), and differences between two of them."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Task, TaskSet
from backend.db.repositories.benchmarks import benchmark_parts as repository
from backend.db.repositories.benchmarks import tasks as task_repository
from backend.domain.benchmarks import TaskChange, differences
from backend.domain.errors import Invalid, NotFound
from backend.domain.model import task as domain
from backend.services.benchmarks.benchmarks import latest_task_set, list_task_sets


@dataclass(frozen=True)
class AffectedTask:
    """A task that differs, and existing results of the older version.

    Attributes:
        episodes, evaluations: affected scored episodes and evaluations; 0 if only labels differ, or the task is new.
    """

    change: TaskChange
    episodes: int
    evaluations: int


@dataclass(frozen=True)
class TaskSetDifference:
    """Differences from task set `old` to `new`."""

    old: TaskSet
    new: TaskSet
    old_name: str
    new_name: str
    tasks: list[AffectedTask]
    same: int

    def count(self, kind: str) -> int:
        """Tasks that are `added`, `removed` or `changed`."""
        return sum(task.change.kind == kind for task in self.tasks)


def task_set_named(session: Session, name: str) -> TaskSet:
    """The task set of `benchmark` (its newest) or `benchmark@version`. Raises NotFound or Invalid."""
    benchmark, at, number = name.partition("@")
    if not at:
        return latest_task_set(session, benchmark)
    if not number.isdecimal():
        raise Invalid(
            f"{number[:50]!r} is not a version",
            code="invalid_version",
            path=name[:100],
            hint="For example benchmark@2.",
        )
    versions = list_task_sets(session, benchmark)
    for row in versions:
        if str(row.version) == str(int(number[:18])):
            return row
    known = ", ".join(str(row.version) for row in versions) or "none"
    raise NotFound(
        f"the benchmark {benchmark!r} has no version {number[:18]}",
        code="version_not_found",
        hint=f"Versions: {known}.",
    )


def diff(session: Session, old: str, new: str) -> TaskSetDifference:
    """Differences of `new` from `old`, both `benchmark[@version]`, and affected stored scores."""
    first, second = task_set_named(session, old), task_set_named(session, new)
    before, after = _tasks(session, first.id), _tasks(session, second.id)
    changes = differences(
        {key: task for key, (_, task) in before.items()}, {key: task for key, (_, task) in after.items()}
    )
    touched = [before[change.task][0].id for change in changes if change.scores and change.task in before]
    scores = repository.scores_of(session, touched)
    tasks = []
    for change in changes:
        row = before.get(change.task)
        episodes, evaluations = scores.get(row[0].id, (0, 0)) if row and change.scores else (0, 0)
        tasks.append(AffectedTask(change, episodes, evaluations))
    same = len(before) - sum(change.kind != "added" for change in changes)
    return TaskSetDifference(first, second, old, new, tasks, same)


def _tasks(session: Session, task_set_id: UUID) -> dict[str, tuple[Task, domain.Task]]:
    rows = task_repository.all_of(session, task_set_id)
    return {row.key: (row, domain.Task.model_validate(row.spec)) for row in rows}
