"""Names of task sets (`osworld`, `osworld@2`), and differences between two of them."""

from collections import Counter
from typing import Literal
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.models import Task, TaskSet
from backend.db.repositories.benchmarks import benchmark_parts as repository
from backend.db.repositories.benchmarks import tasks as task_repository
from backend.domain.benchmarks import FieldChange, differences
from backend.domain.errors import Invalid, NotFound
from backend.domain.model import task as domain
from backend.services.benchmarks.benchmarks import latest_task_set, list_task_sets
from backend.services.read_model import ReadModel


class AffectedTask(ReadModel):
    """A task that differs between two task sets, and stored results of the older one."""

    task: str
    kind: Literal["added", "removed", "changed"]
    changes: tuple[FieldChange, ...]
    scores: bool = Field(description="Whether stored scores of the old version are affected; labels alone affect none.")
    episodes: int = Field(description="Scored episodes of the old version that are affected.")
    evaluations: int = Field(description="Stored evaluations of the old version that are affected.")


class TaskSetDifference(ReadModel):
    """Differences from task set `old` to `new`."""

    old: str = Field(examples=["osworld@1"])
    new: str = Field(examples=["osworld@2"])
    added: int
    removed: int
    changed: int
    unchanged: int
    tasks: list[AffectedTask]


def task_set_by_name(session: Session, name: str) -> TaskSet:
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
    versions_text = ", ".join(str(row.version) for row in versions) or "none"
    raise NotFound(
        f"the benchmark {benchmark!r} has no version {number[:18]}",
        code="version_not_found",
        hint=f"Versions: {versions_text}.",
    )


def diff(session: Session, old: str, new: str) -> TaskSetDifference:
    """Differences of `new` from `old`, both `benchmark[@version]`, and affected stored scores."""
    first, second = task_set_by_name(session, old), task_set_by_name(session, new)
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
        tasks.append(
            AffectedTask(
                task=change.task,
                kind=change.kind,
                changes=change.changes,
                scores=change.scores,
                episodes=episodes,
                evaluations=evaluations,
            )
        )
    kinds = Counter(change.kind for change in changes)
    return TaskSetDifference(
        old=f"{old.partition('@')[0]}@{first.version}",
        new=f"{new.partition('@')[0]}@{second.version}",
        added=kinds["added"],
        removed=kinds["removed"],
        changed=kinds["changed"],
        unchanged=len(before) - kinds["removed"] - kinds["changed"],
        tasks=tasks,
    )


def _tasks(session: Session, task_set_id: UUID) -> dict[str, tuple[Task, domain.Task]]:
    rows = task_repository.all_of(session, task_set_id)
    return {row.key: (row, domain.Task.model_validate(row.spec)) for row in rows}
