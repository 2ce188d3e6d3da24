"""In-process cache of immutable run configs and tasks. Rows written by a newer release are skipped.

A worker of an older release may meet runs and tasks of a newer one. It does not start such episodes: they keep waiting,
with the reason in their row, and this process skips them.
"""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from pydantic import ValidationError
from sqlalchemy.orm import Session

from backend.db.repositories.benchmarks import tasks as repository
from backend.db.session import after_commit
from backend.domain.errors import DeskarenaError, NotFound
from backend.domain.model import task as domain
from backend.domain.model.run import RunConfig
from backend.domain.model.validation_words import problem_words
from backend.services.benchmarks.variants import task_of
from backend.services.lru_cache import LruCache

MOST_ENTRIES = 1000
_configs: LruCache[UUID, RunConfig] = LruCache(MOST_ENTRIES)
_tasks: LruCache[tuple[UUID, str], domain.Task] = LruCache(MOST_ENTRIES)
_unread_runs: set[UUID] = set()
_unread_tasks: dict[UUID, set[UUID]] = {}


class UnreadableConfig(DeskarenaError):
    """This release cannot read a run or a task; another may."""

    code = "config_unreadable"


def config_of(run_id: UUID, raw: Mapping[str, Any]) -> RunConfig:
    """A run's configuration.

    Raises:
        UnreadableConfig: the message names the part.
    """
    try:
        return _configs.get_or_make(run_id, lambda: RunConfig.model_validate(raw))
    except ValidationError as error:
        raise UnreadableConfig(f"the run's configuration ({_first(error)})") from error


def tasks_of(
    session: Session, task_ids: Collection[UUID], config: RunConfig
) -> dict[UUID, domain.Task | UnreadableConfig]:
    """Tasks as used by a run with that configuration, by id; for an unreadable one, the reason."""
    variant = config.variant or ""
    tasks: dict[UUID, domain.Task | UnreadableConfig] = {
        task_id: task for task_id in task_ids if (task := _tasks.get((task_id, variant))) is not None
    }
    missing = set(task_ids) - tasks.keys()
    rows = {row.id: row for row in repository.by_ids(session, missing)} if missing else {}
    for task_id in missing:
        try:
            tasks[task_id] = _tasks.put(
                (task_id, variant), task_of(session, rows[task_id], {"variant": config.variant})
            )
        except KeyError:
            tasks[task_id] = UnreadableConfig("the task: it no longer exists")
        except ValidationError as error:
            tasks[task_id] = UnreadableConfig(f"the task ({_first(error)})")
        except NotFound as error:
            tasks[task_id] = UnreadableConfig(f"the task ({error.message})")
    return tasks


def unread_runs() -> Collection[UUID]:
    """Runs of which this process starts nothing."""
    return _unread_runs


def unread_tasks(runs: Collection[UUID]) -> list[tuple[UUID, UUID]]:
    """(run, task) pairs of these runs whose episodes this process does not start."""
    return [(run, task) for run in runs for task in _unread_tasks.get(run, ())]


def note_unread(session: Session, run_id: UUID, tasks: Collection[UUID] = ()) -> None:
    """After this transaction's commit, leaves these tasks of the run, or all, to other workers."""
    key = f"unread {run_id} {sorted(map(str, tasks))}"
    after_commit(session, key, lambda: _note(run_id, tasks))


def _note(run_id: UUID, tasks: Collection[UUID]) -> None:
    if tasks:
        _unread_tasks.setdefault(run_id, set()).update(tasks)
    else:
        _unread_runs.add(run_id)


def _first(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(str(part) for part in first['loc'])}: {problem_words(first)}"[:300]
