"""What bounds the simultaneous episodes of a run, independent of the order of runs."""

from backend.domain.scheduling.projects import ALL
from backend.domain.scheduling.reservations import Urgency
from backend.domain.scheduling.snapshot import QueueSnapshot, RunLoad


def has_room(now: QueueSnapshot, run: RunLoad) -> bool:
    """Whether one more episode of the run may begin."""
    return not hindrance(now, run)


def hindrance(now: QueueSnapshot, run: RunLoad) -> str:
    """Why the run may not get one more slot; empty if it may."""
    if run.concurrency is not None and run.in_use >= run.concurrency:
        return f"parallel limit of the run reached: {run.in_use} of {run.concurrency}"
    if run.model_waits:
        return f"model rate limit: {run.model_waits} of its {run.in_use} episodes are waiting"
    project = now.projects[run.project_id]
    full = project.rules.quota_full(now.provider, project.in_use)
    if full is not None:
        name, number = full
        used = sum(project.in_use.values()) if name == ALL else project.in_use.get(name, 0)
        return f"project quota reached: {used} of {number} {'' if name == ALL else name + ' '}desktops"
    return _reserved(now, run)


def _reserved(now: QueueSnapshot, run: RunLoad) -> str:
    if now.free is None or now.free > now.reserve.reserved(run.project_id, run.urgency):
        return ""
    whose = "another project's interactive" if run.urgency is not Urgency.NOBODY else "interactive"
    return f"free desktops are reserved for {whose} episodes"
