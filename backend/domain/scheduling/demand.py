"""Number of episodes that would start with enough slots. Autoscalers and warm pods use it."""

from collections.abc import Mapping
from uuid import UUID

from backend.domain.scheduling.projects import ALL
from backend.domain.scheduling.snapshot import QueueSnapshot, RunLoad


def beginning(now: QueueSnapshot, waiting: Mapping[UUID, int]) -> dict[UUID, int]:
    """Of each run's waiting episodes those that nothing but slots keeps from beginning.

    A run's own limit and its project's quotas bound them; a run that waits for its model would only wait with more.
    What is reserved does not count: where there are slots enough, so are those.

    Args:
        now: the queue.
        waiting: episodes that could begin now, by run.
    """
    counts: dict[UUID, int] = {}
    by_project: dict[UUID, int] = {}
    for run in now.runs:
        room = _room(now, run, by_project.get(run.project_id, 0))
        counts[run.id] = max(0, min(waiting.get(run.id, 0), *room)) if room else waiting.get(run.id, 0)
        by_project[run.project_id] = by_project.get(run.project_id, 0) + counts[run.id]
    return counts


def _room(now: QueueSnapshot, run: RunLoad, other_count: int) -> list[int]:
    """Episodes that each bound leaves room for; `other_count`: episodes that other runs of the project start."""
    bounds = [0] if run.model_waits else []
    if run.concurrency is not None:
        bounds.append(run.concurrency - run.in_use)
    project = now.projects[run.project_id]
    for name, number in project.rules.quotas(now.provider):
        used = sum(project.in_use.values()) if name == ALL else project.in_use.get(name, 0)
        bounds.append(number - used - other_count)
    return bounds
