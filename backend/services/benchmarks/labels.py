"""Imported labels and human times; they apply to every version of a benchmark."""

from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.repositories.benchmarks import benchmark_parts as repository
from backend.db.repositories.benchmarks import tasks as task_repository
from backend.domain.benchmarks import read_labels
from backend.services.benchmarks.benchmarks import get_benchmark, latest_task_set


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
            }
            for row in last.values()
        ],
    )
    changed = repository.apply_labels(session, benchmark.id)
    if changed:
        repository.mark_stale(session, benchmark.id)
    return len(rows), len(changed)
