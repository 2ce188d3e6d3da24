"""Bounds on the simultaneous episodes of a run, independent of the order of runs."""

from backend.domain.model.reason import Reason, ReasonCode
from backend.domain.scheduling.projects import ALL
from backend.domain.scheduling.reservations import Urgency
from backend.domain.scheduling.snapshot import QueueSnapshot, RunLoad


def has_room(now: QueueSnapshot, run: RunLoad) -> bool:
    """Whether one more episode of the run may start."""
    return not hindrance(now, run)


def spent_out(run: RunLoad) -> Reason | None:
    """Why no further episode of the run may start until a limit is raised; None if one may."""
    if run.budget_reached:
        return Reason(ReasonCode.BUDGET_REACHED, run.budget_reached)
    if run.over_disk_quota:
        return Reason(ReasonCode.DISK_QUOTA_REACHED, "the project stores more than its disk quota allows")
    return None


def hindrance(now: QueueSnapshot, run: RunLoad) -> Reason | None:
    """Why the run may not get one more slot; None if it may."""
    if stopped := spent_out(run):
        return stopped
    if run.concurrency is not None and run.in_use >= run.concurrency:
        text = f"parallel limit of the run reached: {run.in_use} of {run.concurrency}"
        return Reason(ReasonCode.CONCURRENCY_LIMIT, text)
    if run.model_waits:
        text = f"model rate limit: {run.model_waits} of its {run.in_use} episodes are waiting"
        return Reason(ReasonCode.MODEL_RATE_LIMIT, text)
    project = now.projects[run.project_id]
    full = project.rules.quota_full(now.provider, project.in_use)
    if full is not None:
        name, number = full
        used = sum(project.in_use.values()) if name == ALL else project.in_use.get(name, 0)
        text = f"project quota reached: {used} of {number} {'' if name == ALL else name + ' '}desktops"
        return Reason(ReasonCode.QUOTA_REACHED, text)
    return _reservation_reason(now, run)


def _reservation_reason(now: QueueSnapshot, run: RunLoad) -> Reason | None:
    if now.free is None or now.free > now.reserve.reserved(run.project_id, run.urgency):
        return None
    whose = "another project's interactive" if run.urgency is not Urgency.NOBODY else "interactive"
    return Reason(ReasonCode.DESKTOPS_RESERVED, f"free desktops are reserved for {whose} episodes")
