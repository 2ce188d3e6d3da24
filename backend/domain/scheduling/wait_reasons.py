"""Why an episode waits: the first reason that keeps it from starting."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from backend.domain.model.reason import Reason, ReasonCode
from backend.domain.scheduling.requirements import FENCE, Requirements, WorkerCapability

NEVER = 9000
"""From that year on an episode is held: it does not start by itself."""
_LONGEST = 500
_TURN = frozenset(
    {
        ReasonCode.STARTING,
        ReasonCode.DESKTOPS_IN_USE,
        ReasonCode.CONCURRENCY_LIMIT,
        ReasonCode.MODEL_RATE_LIMIT,
        ReasonCode.QUOTA_REACHED,
        ReasonCode.BUDGET_REACHED,
        ReasonCode.DISK_QUOTA_REACHED,
        ReasonCode.DESKTOPS_RESERVED,
    }
)


@dataclass(frozen=True)
class EpisodeWait:
    """Facts about a waiting episode.

    Attributes:
        reason: as its row has it: why it is held, or the result of its last attempt.
        need: of its task; None = not known.
        lacking: licences without a free seat.
    """

    available_at: datetime
    reason: Reason | None = None
    need: Requirements | None = None
    lacking: str = ""


@dataclass(frozen=True)
class RunStanding:
    """State of its run in the queue.

    Attributes:
        state: of the run.
        agent, image: that it names.
        hindrance: why the run may not get one more slot (`bounds.hindrance`).
        slots, free: of its provider, usable now.
        first: episodes of other runs that precede it; empty if none do.
        refusal: why no online worker starts anything on the provider now (`unusable_provider`, `hindrance_of`);
            None if no worker reports one.
        closed: why there is no slot (`closed_slots.closed`); None if there are some.
    """

    state: str
    provider: str
    agent: str
    image: str | None
    hindrance: Reason | None
    slots: int
    free: int
    first: str = ""
    refusal: Reason | None = None
    closed: Reason | None = None


@dataclass(frozen=True)
class WaitReason(Reason):
    """Why an episode waits.

    Attributes:
        timed: the episodes its run has in progress tell when it starts: not just now, and no other run takes slots that
            become free.
    """

    timed: bool = False

    @property
    def turn(self) -> bool:
        """Whether it waits for nothing but its turn, or for a bound of its run."""
        return self.code in _TURN


def why(
    waiter: EpisodeWait, stand: RunStanding, workers: Sequence[WorkerCapability], now: datetime, ahead: int | None
) -> WaitReason:
    """The first of all reasons.

    Args:
        waiter: the episode.
        stand: its run.
        workers: what each online worker can do with the run's provider; nothing for those that do not have it.
        now: the database's clock.
        ahead: waiting episodes of its run that come first; None = not known.
    """
    reason = (
        (Reason(ReasonCode.RUN_PAUSED, "the run is paused") if stand.state == "paused" else None)
        or _later(waiter, now)
        or (stand.refusal if not workers else None)
        or unable(stand.provider, stand.agent, stand.image, [waiter.need] if waiter.need else [], workers)
        or (Reason(ReasonCode.LICENCE_IN_USE, f"waiting for {waiter.lacking}") if waiter.lacking else None)
        or stand.closed
    )
    if not reason and not stand.hindrance and waiter.reason and waiter.reason.code is ReasonCode.WORKER_CANNOT_READ:
        reason = waiter.reason
    if reason:
        return WaitReason(reason.code, reason.text)
    if not stand.hindrance and not stand.first and stand.free > (ahead or 0):
        return WaitReason(ReasonCode.STARTING, "about to start")
    turn = stand.hindrance or Reason(ReasonCode.DESKTOPS_IN_USE, _queue(stand, ahead))
    return WaitReason(turn.code, turn.text, timed=not stand.first)


def unread(worker: str, subject: str) -> Reason:
    """The reason in an episode's row if a worker cannot read its run or task.

    Args:
        worker: its name and release.
        subject: and what of it.
    """
    return Reason(ReasonCode.WORKER_CANNOT_READ, f"needs another worker: {worker} cannot read {subject}"[:_LONGEST])


def _later(waiter: EpisodeWait, now: datetime) -> Reason | None:
    if waiter.available_at.year >= NEVER:
        return waiter.reason or Reason(ReasonCode.ON_HOLD, "on hold")
    if waiter.available_at > now:
        cause = waiter.reason.text if waiter.reason else "the last attempt was lost"
        return Reason(ReasonCode.RETRY_DELAY, f"retry at {waiter.available_at:%H:%M:%S} UTC: {cause}")
    return None


def unusable_provider(provider: str, why_not: str) -> Reason | None:
    """The reason if an online worker knows the provider but cannot use it; None without one."""
    text = f"{provider} desktops are not available now: {why_not[:_LONGEST]}"
    return Reason(ReasonCode.PROVIDER_UNAVAILABLE, text) if why_not else None


def hindrance_of(why_not: str) -> Reason:
    """The reason if online workers start nothing now, because of what their attempts need."""
    return Reason(ReasonCode.WORKERS_BLOCKED, f"workers are not starting attempts: {why_not[:_LONGEST]}")


def unable(
    provider: str, agent: str, image: str | None, needs: Iterable[Requirements], workers: Sequence[WorkerCapability]
) -> Reason | None:
    """The first need that no online worker meets; None if every need is met."""
    if not workers:
        return Reason(ReasonCode.PROVIDER_NOT_OFFERED, f"no online worker offers {provider} desktops")
    runs_it = [able for able in workers if agent in able.agents]
    if not runs_it:
        return Reason(ReasonCode.AGENT_NOT_OFFERED, f"no online worker offers the agent {agent}")
    with_image = [able for able in runs_it if able.fits(agent, image)]
    if not with_image:
        return Reason(ReasonCode.IMAGE_NOT_OFFERED, f"no online worker has the image {image}")
    lacking = [need for need in needs if not any(able.meets(need, image) for able in with_image)]
    return _lacking(lacking[0], with_image, image) if lacking else None


def _lacking(need: Requirements, workers: Sequence[WorkerCapability], image: str | None) -> Reason:
    image_programs = [able.programs.get(need.os, {}).get(image or "") for able in workers]
    offered: Mapping[int, frozenset[str]] = {
        index: programs for index, programs in enumerate(image_programs) if programs is not None
    }
    if not offered:
        return Reason(ReasonCode.SYSTEM_NOT_OFFERED, f"no online worker has {need.os} desktops")
    missing = min((need.programs - programs for programs in offered.values()), key=len)
    if not missing:
        return Reason(ReasonCode.FUNCTIONS_NOT_SANDBOXED, f"no online worker has {FENCE}")
    text = f"no online worker has the program{'' if len(missing) == 1 else 's'} {', '.join(sorted(missing))}"
    return Reason(ReasonCode.PROGRAMS_NOT_INSTALLED, text)


def _queue(stand: RunStanding, ahead: int | None) -> str:
    return "; ".join(filter(None, (_slots(stand), _before(ahead), stand.first)))


def _slots(stand: RunStanding) -> str:
    if stand.slots == 1 and not stand.free:
        return "the only desktop is in use"
    return f"{stand.slots - stand.free} of {stand.slots} desktops in use"


def _before(ahead: int | None) -> str:
    if not ahead:
        return "" if ahead is None else "next in its run"
    return f"{ahead} episode{'' if ahead == 1 else 's'} of the run first"
