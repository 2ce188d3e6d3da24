"""Labels of tasks: their counts, and imported ones, which apply to every version of a benchmark."""

from collections.abc import Iterator

from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models import TaskSet
from backend.db.repositories.benchmarks import benchmark_parts as repository
from backend.db.repositories.benchmarks import labels as label_repository
from backend.db.repositories.benchmarks import tasks as task_repository
from backend.domain.benchmarks import read_labels
from backend.domain.model.label_filter import order_values
from backend.services.benchmarks.benchmarks import get_benchmark, latest_task_set, list_task_sets, version_of

LabelCounts = dict[str, dict[str, int]]
"""Number of tasks by label and value."""


def all_labels(task_set: TaskSet) -> LabelCounts:
    """Every label of a task set's tasks, each with its values in the order of tables."""
    counts = label_repository.counts_of(task_set)
    return {name: {value: counts[name][value] for value in order_values(counts[name])} for name in sorted(counts)}


def label_counts(task_set: TaskSet) -> LabelCounts:
    """Labels by which the tasks of a task set differ: not those with one value that all tasks have."""
    labels = all_labels(task_set)
    tasks = sum(labels.get("domain", {}).values())
    return {name: values for name, values in labels.items() if len(values) > 1 or sum(values.values()) < tasks}


def label_rows(session: Session, name: str, version: int | None) -> Iterator[tuple[str, str, str]]:
    """(task, label, value) of every task of a version (default: the newest). Raises NotFound."""
    task_set = version_of(session, name, version)
    for domain, task, labels in label_repository.of_tasks(session, task_set.id):
        for label in sorted(labels):
            yield from ((f"{domain}/{task}", label, value) for value in labels[label])


def import_labels(session: Session, name: str, text: str) -> tuple[int, int]:
    """Imports labels from a CSV text (see `domain.benchmarks.read_labels`) over those of the task files.

    Task sets are not changed; roll-ups of the benchmark's runs are recomputed.

    Returns:
        Number of rows, and number of changed tasks in all versions.

    Raises:
        NotFound: There is no such benchmark.
        Invalid: a row is invalid; nothing is written then.
    """
    benchmark = get_benchmark(session, name)
    newest = latest_task_set(session, name)
    rows = read_labels(text, [row.key for row in task_repository.all_of(session, newest.id)])
    last = {row.task: row for row in rows}  # The last row of a task counts.
    repository.put_labels(
        session,
        [
            {
                "id": uuid7(),
                "benchmark_id": benchmark.id,
                "domain": row.task.partition("/")[0],
                "name": row.task.partition("/")[2],
                "difficulty": row.difficulty,
                "difficulty_source": row.source,
                "human_seconds": row.human_seconds,
                "human_steps": row.human_steps,
                "labels": {name: list(values) for name, values in row.labels.items()},
            }
            for row in last.values()
        ],
    )
    changed = repository.apply_labels(session, benchmark.id)
    if changed:
        for task_set in list_task_sets(session, name):
            label_repository.count(session, task_set.id)
        repository.mark_stale(session, benchmark.id)
    return len(rows), len(changed)
