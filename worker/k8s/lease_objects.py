"""Holds on slots as `coordination.k8s.io` Lease objects: pure functions, tested against their whole text.

Postgres is the truth; these objects tell people of the cluster who uses what (`kubectl get leases`), and a worker that
was left behind that somebody else has its slot.
"""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from backend.domain.machines.slots import SlotRef
from worker.k8s.cluster import Object
from worker.k8s.manifests import DEADLINE, FENCE, NAME, OWNER, SLOT, WORKER, moment, seconds_of

APP = "deskarena-hold"
RUN, EPISODE, ATTEMPT, PLACE = (f"deskarena.dev/{name}" for name in ("run", "episode", "attempt", "place"))
DURATION_SECONDS = 60
"""Of a Lease object, and so for how long one is taken to be held that nobody renews or removes."""
RENEW_SECONDS = DURATION_SECONDS / 3
"""1,000 slots make 50 writes a second; the kubelets of 1,000 nodes make 100 for the Leases of their own."""
_MICRO = "%Y-%m-%dT%H:%M:%S.%fZ"


@dataclass(frozen=True)
class SlotHold:
    """A lease of ours on a slot of the cluster, as Postgres has it.

    Attributes:
        slot: with its row's id, and the lease's fencing token.
        acquired_at: seconds since 1970.
        run, episode, attempt: what runs under it; empty between two attempts.
    """

    lease_id: UUID
    slot: SlotRef
    acquired_at: float
    run: str = ""
    episode: str = ""
    attempt: str = ""

    @property
    def name(self) -> str:
        """Of its Lease object: the same for every hold on the slot."""
        return f"deskarena-slot-{self.slot.id}"


@dataclass(frozen=True)
class WrittenLease:
    """A Lease object of ours as we last wrote it.

    Attributes:
        uid, version: of the object.
        at: monotonic seconds.
        transitions: how often the slot changed hands.
        noted: the pod says the same.
    """

    hold: SlotHold
    uid: str
    version: str
    at: float
    transitions: int
    noted: bool = False


def lease(  # noqa: PLR0913 - what it says
    hold: SlotHold, worker: str, owner: str, now: float, *, transitions: int = 0, version: str = ""
) -> Object:
    """The Lease object of a hold.

    Args:
        hold: of the slot.
        worker: who holds it.
        owner: name of the installation.
        now: seconds since 1970.
        transitions: how often the slot changed hands.
        version: of the object that it takes the place of; empty = a new one.
    """
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": hold.name,
            **({"resourceVersion": version} if version else {}),
            "labels": {NAME: APP, OWNER: owner, SLOT: hold.slot.id},
            "annotations": {
                FENCE: str(hold.slot.fence),
                PLACE: str(hold.slot),
                WORKER: worker,
                DEADLINE: moment(now + DURATION_SECONDS),
                **notes(hold),
            },
        },
        "spec": {
            "holderIdentity": worker,
            "leaseDurationSeconds": DURATION_SECONDS,
            "acquireTime": _micro(hold.acquired_at),
            "renewTime": _micro(now),
            "leaseTransitions": transitions,
        },
    }


def notes(hold: SlotHold) -> dict[str, str]:
    """Annotations that say what runs there, for the Lease object and for the slot's pod."""
    return {RUN: hold.run, EPISODE: hold.episode, ATTEMPT: hold.attempt}


def selector(owner: str) -> str:
    """Labels of all our Lease objects."""
    return f"{NAME}={APP},{OWNER}={owner}"


def fence_of(obj: Object) -> int:
    """The token of the hold that an object tells of; 0 where it tells of none."""
    text = str(_notes(obj).get(FENCE, ""))
    return int(text) if text.isdecimal() else 0


def transitions_of(obj: Object) -> int:
    """How often the slot changed hands."""
    transitions = (obj.get("spec") or {}).get("leaseTransitions")
    return transitions if isinstance(transitions, int) else 0


def holder_of(obj: Object) -> str:
    """Who says to hold it."""
    return str((obj.get("spec") or {}).get("holderIdentity") or "somebody")


def is_past(obj: Object, now: float) -> bool:
    """Whether its deadline has passed, in seconds since 1970; one without a deadline has none left."""
    deadline = seconds_of(str(_notes(obj).get(DEADLINE, "")))
    return deadline is None or deadline < now


def due(
    holds: Mapping[str, SlotHold], written: Mapping[str, WrittenLease], now: float, most: int
) -> list[tuple[str, SlotHold | None]]:
    """What is to be written now, the most urgent first: new holds, ended ones, changed ones, then the oldest.

    Args:
        holds: ours by the name of their object.
        written: what we wrote, by name.
        now: monotonic seconds.
        most: so many at most; the others come later.

    Returns:
        (name, the hold that it is to tell of; None = it is to be removed).
    """
    fresh = [name for name in holds if name not in written or written[name].hold.slot.fence < holds[name].slot.fence]
    ended = [name for name in written if name not in holds]
    changed = [name for name in holds if name not in fresh and written[name].hold != holds[name]]
    old = [
        name for name in holds if name not in fresh and name not in changed and now - written[name].at >= RENEW_SECONDS
    ]
    old.sort(key=lambda name: written[name].at)
    return [(name, holds.get(name)) for name in (*fresh, *ended, *changed, *old)][:most]


def _notes(obj: Object) -> Mapping[str, str]:
    notes: Mapping[str, str] = (obj.get("metadata") or {}).get("annotations") or {}
    return notes


def _micro(seconds: float) -> str:
    return dt.datetime.fromtimestamp(seconds, dt.UTC).strftime(_MICRO)
