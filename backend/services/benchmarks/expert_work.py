"""Results by human experts that come with a task set, for people to compare."""

from collections.abc import Mapping
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.repositories.submissions import submissions as repository
from backend.domain.model.task import Task

EXPERT_WORK = "expert_work"
"""Label with the name of the asset."""


def keep_expert_work(session: Session, tasks: Mapping[UUID, Task], assets: Mapping[str, str]) -> None:
    """Stores results by human experts.

    Args:
        session: the transaction; tasks are stored already.
        tasks: by row id.
        assets: hash of each of the task set's files, by name.
    """
    rows = []
    for task_id, task in tasks.items():
        name = str(task.labels.extra.get(EXPERT_WORK, ""))
        if task.evaluator.handed_in and name in assets:
            rows.append(repository.row_of(task_id, None, [{"name": name.rpartition("/")[2], "sha256": assets[name]}]))
    repository.add_all(session, rows)
