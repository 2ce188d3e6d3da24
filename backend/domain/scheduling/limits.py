"""How many episodes of a run can run in parallel, and what limits it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from backend.domain.model.reason import Reason, ReasonCode
from backend.domain.scheduling.bounds import has_room, spent_out
from backend.domain.scheduling.order import rank
from backend.domain.scheduling.projects import ALL
from backend.domain.scheduling.reservations import Urgency
from backend.domain.scheduling.snapshot import QueueSnapshot, RunLoad


@dataclass(frozen=True)
class Concurrency:
    """A run's effective concurrency: `limit` of `slots` that there are, and the limiting factor."""

    limit: int
    slots: int
    limiting_factor: Reason

    @property
    def text(self) -> str:
        """`3 of 8 slots: model rate limit`."""
        return f"{self.limit} of {self.slots} slot{'' if self.slots == 1 else 's'}: {self.limiting_factor.text}"


def concurrency(  # noqa: PLR0913, PLR0917 - what bounds a run
    now: QueueSnapshot,
    run: RunLoad,
    slots: int,
    left: int,
    closed: Sequence[Reason] = (),
    urgent: int = 0,
    hold_reason: Reason | None = None,
) -> Concurrency:
    """The smallest bound of a run; of equal ones, the easiest to change.

    Args:
        now: the queue of its provider, with the runs that want slots.
        run: the run.
        slots: of the provider that may be used now.
        left: episodes of the run that have not ended, without those that are held back.
        closed: why none may start: it is paused, no worker supports it, no slot is usable.
        urgent: slots that more urgent runs have or want.
        hold_reason: why episodes are held back; None without any.
    """
    if closed:
        return Concurrency(0, slots, closed[0])
    bounds = [*_spent_out(run), *_own(run), *_quota(now, run), *_model(run), *_reserved_limit(now, run, slots)]
    bounds += [*_urgent(run, slots, urgent), *_share(now, run, max(0, slots - urgent))]
    bounds += [(slots, Reason(ReasonCode.ALL_SLOTS, "all available slots"))]
    bounds += [(left, hold_reason or Reason(ReasonCode.NO_MORE_EPISODES, "no more episodes"))]
    number, factor = min(bounds, key=lambda bound: bound[0])
    return Concurrency(max(0, number), slots, factor)


def _spent_out(run: RunLoad) -> list[tuple[int, Reason]]:
    reason = spent_out(run)
    return [] if reason is None else [(0, reason)]


def _own(run: RunLoad) -> list[tuple[int, Reason]]:
    factor = Reason(ReasonCode.CONCURRENCY_LIMIT, "parallel limit of the run")
    return [] if run.concurrency is None else [(run.concurrency, factor)]


def _model(run: RunLoad) -> list[tuple[int, Reason]]:
    return [(run.in_use, Reason(ReasonCode.MODEL_RATE_LIMIT, "model rate limit"))] if run.model_waits else []


def _quota(now: QueueSnapshot, run: RunLoad) -> list[tuple[int, Reason]]:
    project = now.projects[run.project_id]
    bounds = []
    for name, number in project.rules.quotas(now.provider):
        used = sum(project.in_use.values()) if name == ALL else project.in_use.get(name, 0)
        noun = "desktop" if number == 1 else "desktops"
        whose = f"{noun} in all" if name == ALL else f"{name} {noun}"
        factor = Reason(ReasonCode.QUOTA_REACHED, f"the project's quota of {number} {whose}")
        bounds.append((number - (used - run.in_use), factor))
    return bounds


def _reserved_limit(now: QueueSnapshot, run: RunLoad, slots: int) -> list[tuple[int, Reason]]:
    number = now.reserve.reserved(run.project_id, run.urgency)
    whose = "other projects'" if run.urgency is not Urgency.NOBODY else "people's"
    factor = Reason(ReasonCode.DESKTOPS_RESERVED, f"{number} reserved for {whose} interactive episodes")
    return [(slots - number, factor)] if number else []


def _urgent(run: RunLoad, slots: int, urgent: int) -> list[tuple[int, Reason]]:
    """Running episodes may finish; free slots go to more urgent runs until they are satisfied."""
    factor = Reason(ReasonCode.HIGHER_PRIORITY_RUNS, "higher-priority runs first")
    return [(max(run.in_use, slots - urgent), factor)] if urgent else []


def _share(now: QueueSnapshot, run: RunLoad, slots: int) -> list[tuple[int, Reason]]:
    """Its fair share, if others that are as urgent could use slots, too: of its project's, if other projects do."""
    open_ = replace(now, free=None)  # What is reserved keeps all of them from the same slots.
    equals = [candidate for candidate in now.runs if candidate.id != run.id and rank(now, candidate) == rank(now, run)]
    others = [candidate for candidate in equals if has_room(open_, candidate)]
    slots_in_use = sum(candidate.in_use for candidate in equals if candidate not in others)
    slots -= slots_in_use
    if slots <= 0 or not (others or slots_in_use):
        return []
    if not others:
        return [(slots, Reason(ReasonCode.OTHER_RUNS_AT_LIMIT, f"{slots_in_use} in use by runs at their limit"))]
    projects = {candidate.project_id for candidate in others} | {run.project_id}
    weights = sum(now.projects[project].rules.weight for project in projects)
    part = now.projects[run.project_id].rules.weight / weights
    runs = 1 + sum(candidate.project_id == run.project_id for candidate in others)
    text = f"a fair share with {len(others)} other run{'' if len(others) == 1 else 's'}"
    return [(max(1, math.ceil(slots * part / runs)), Reason(ReasonCode.FAIR_SHARE, text))]
