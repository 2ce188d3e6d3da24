"""Which tasks a request selects, as a filter for the database: 25,000 tasks are counted without reading each."""

from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.repositories.benchmarks import benchmark_parts as parts
from backend.db.repositories.benchmarks import task_groups as repository
from backend.db.repositories.benchmarks import tasks
from backend.db.repositories.benchmarks.task_groups import TaskFilter
from backend.domain.errors import Invalid
from backend.domain.model.label_filter import label_filter
from backend.services.capacity.run_request import SELECTION, RunRequest, select_tasks

MOST_GLOBS = 50


def selection_of(session: Session, task_set_id: UUID, request: RunRequest) -> TaskFilter:
    """The same tasks as `run_request.selected`. Raises Invalid as that does."""
    wish = _filter(session, task_set_id, request)
    if wish is not None and repository.each_matches(session, task_set_id, wish):
        return wish
    named = parts.selections(session, task_set_id)
    rows = select_tasks(tasks.all_of(session, task_set_id), request.tasks, named, request.where)
    return TaskFilter(ids=[row.id for row in rows])


def _filter(session: Session, task_set_id: UUID, request: RunRequest) -> TaskFilter | None:
    """The filter; None if the database cannot say the same, or if it is wrong."""
    names = {task.removeprefix(SELECTION) for task in request.tasks if task.startswith(SELECTION)}
    globs = [task for task in request.tasks if not task.startswith(SELECTION) and set("*?[") & set(task)]
    if len(globs) > MOST_GLOBS or any("[" in glob for glob in globs):
        return None
    selections = parts.selections(session, task_set_id) if names else {}
    try:
        where = label_filter(request.where)
    except Invalid:
        return None
    if not names <= selections.keys():
        return None
    keys = {task for task in request.tasks if not task.startswith(SELECTION)}.difference(globs)
    return TaskFilter(keys=sorted(keys.union(*(selections[name] for name in names))), globs=globs, where=where)
