"""Results of a run by task."""

from collections.abc import Collection, Mapping
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.repositories.results import rollups as repository
from backend.db.repositories.results.rollups import TaskFileFacts, TaskTotals
from backend.services.lru_cache import LruCache

_FACTS: LruCache[UUID, dict[str, TaskFileFacts]] = LruCache(8)
"""Of the tasks of a task set, which never change: unpacking their files takes as long as summing the results."""


def task_totals(session: Session, run_id: UUID) -> list[TaskTotals]:
    """One row per task of the run, from its current episodes. Tasks with equal labels share them as one object."""
    task_set_id = repository.task_set_of(session, run_id)
    if task_set_id is None:
        return []
    facts = _FACTS.get_or_make(task_set_id, dict)

    def facts_of(tasks: Collection[str]) -> Mapping[str, TaskFileFacts]:
        if missing := [task for task in tasks if task not in facts]:
            facts.update(repository.task_facts(session, missing))
        return facts

    return repository.task_totals(session, run_id, facts_of)
