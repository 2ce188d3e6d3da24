"""Why an episode waits, in one sentence: the first of all reasons that would have to go before it may begin."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from backend.domain.scheduling.requirements import FENCE, Requirements, WorkerCapability

NEVER = 9000
"""From that year on an episode is held: it does not start by itself."""
_LONGEST = 500
UNREAD = "needs another worker: "
"""What the reasons begin with of episodes that a worker's release could not read."""


@dataclass(frozen=True)
class EpisodeWait:
    """What is known of a waiting episode.

    Attributes:
        reason: as its row has it: why it was held back, what its last attempt came to.
        need: of its task; None = not known.
        lacking: licences without a free seat.
    """

    available_at: datetime
    reason: str = ""
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
        refusal: why a worker that is online begins nothing on the provider now (`refused`, `hindered`); empty where
            none has said so.
        closed: why there is no slot (`closed_slots.closed`); empty if there are some.
    """

    state: str
    provider: str
    agent: str
    image: str | None
    hindrance: str
    slots: int
    free: int
    first: str = ""
    refusal: str = ""
    closed: str = ""


@dataclass(frozen=True)
class WaitReason:
    """One sentence, without a full stop.

    Attributes:
        turn: it waits for nothing but its turn, or for a bound of its run.
        timed: what its run has under way says about when that is: it does not begin just now, and no other run takes
            what becomes free.
    """

    words: str
    turn: bool = False
    timed: bool = False


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
        ("the run is paused" if stand.state == "paused" else "")
        or _later(waiter, now)
        or (stand.refusal if not workers else "")
        or unable(stand.provider, stand.agent, stand.image, [waiter.need] if waiter.need else [], workers)
        or (f"waiting for {waiter.lacking}" if waiter.lacking else "")
        or stand.closed
    )
    if not reason and not stand.hindrance and waiter.reason.startswith(UNREAD):
        return WaitReason(waiter.reason)
    if reason:
        return WaitReason(reason)
    if not stand.hindrance and not stand.first and stand.free > (ahead or 0):
        return WaitReason("about to start", turn=True)
    return WaitReason(stand.hindrance or _queue(stand, ahead), turn=True, timed=not stand.first)


def unread(worker: str, what: str) -> str:
    """The reason in an episode's row if a worker cannot read its run or task.

    Args:
        worker: its name and release.
        what: and what of it.
    """
    return f"{UNREAD}{worker} cannot read {what}"[:_LONGEST]


def _later(waiter: EpisodeWait, now: datetime) -> str:
    if waiter.available_at.year >= NEVER:
        return waiter.reason or "on hold"
    if waiter.available_at > now:
        return f"retry at {waiter.available_at:%H:%M:%S} UTC: {waiter.reason or 'the last attempt was lost'}"
    return ""


def refused(provider: str, why_not: str) -> str:
    """The reason if an online worker knows the provider but cannot use it; empty without one."""
    return f"{provider} desktops are not available now: {why_not[:_LONGEST]}" if why_not else ""


def hindered(why_not: str) -> str:
    """The reason if online workers start nothing now, because of what their attempts need."""
    return f"workers are not starting attempts: {why_not[:_LONGEST]}"


def unable(
    provider: str, agent: str, image: str | None, needs: Iterable[Requirements], workers: Sequence[WorkerCapability]
) -> str:
    """Needs that no online worker meets, as text; empty if every need is met."""
    if not workers:
        return f"no online worker offers {provider} desktops"
    runs_it = [able for able in workers if agent in able.agents]
    if not runs_it:
        return f"no online worker offers the agent {agent}"
    with_image = [able for able in runs_it if able.fits(agent, image)]
    if not with_image:
        return f"no online worker has the image {image}"
    lacking = [need for need in needs if not any(able.meets(need, image) for able in with_image)]
    return _lacking(lacking[0], with_image, image) if lacking else ""


def _lacking(need: Requirements, workers: Sequence[WorkerCapability], image: str | None) -> str:
    known = [able.programs.get(need.os, {}).get(image or "") for able in workers]
    offered: Mapping[int, frozenset[str]] = {
        index: programs for index, programs in enumerate(known) if programs is not None
    }
    if not offered:
        return f"no online worker has {need.os} desktops"
    missing = min((need.programs - programs for programs in offered.values()), key=len)
    if not missing:
        return f"no online worker has {FENCE}"
    return f"no online worker has the program{'' if len(missing) == 1 else 's'} {', '.join(sorted(missing))}"


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
