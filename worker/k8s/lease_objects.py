"""Slot leases as `coordination.k8s.io` Lease objects: pure functions.

Postgres is the truth; these objects show users of the cluster who uses what (`kubectl get leases`), and tell a
superseded worker that somebody else has its slot.
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
"""Duration of a Lease object, after which it counts as expired."""
RENEW_SECONDS = DURATION_SECONDS / 3
"""1,000 slots cause 50 writes per second; the kubelets of 1,000 nodes cause 100 for their own Leases."""
_MICRO = "%Y-%m-%dT%H:%M:%S.%fZ"


@dataclass(frozen=True)
class SlotHold:
    """A lease of ours on a slot of the cluster, as in Postgres.

    Attributes:
        slot: with its row's id and the lease's fencing token.
        acquired_at: seconds since 1970.
        run, episode, attempt: what runs under it; empty between attempts.
    """

    lease_id: UUID
    slot: SlotRef
    acquired_at: float
    run: str = ""
    episode: str = ""
    attempt: str = ""

    @property
    def name(self) -> str:
        """Name of its Lease object: the same for every lease of the slot."""
        return f"deskarena-slot-{self.slot.id}"


@dataclass(frozen=True)
class WrittenLease:
    """A Lease object of ours as last written.

    Attributes:
        uid, version: of the object.
        at: monotonic seconds.
        transitions: number of changes of the holder.
        noted: whether the pod is annotated accordingly.
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
    """The Lease object of a lease.

    Args:
        hold: lease of the slot.
        worker: holder.
        owner: name of the installation.
        now: seconds since 1970.
        transitions: number of changes of the holder.
        version: of the object to replace; empty = a new one.
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
    """Annotations for the Lease object and the slot's pod."""
    return {RUN: hold.run, EPISODE: hold.episode, ATTEMPT: hold.attempt}


def selector(owner: str) -> str:
    """Label selector of all our Lease objects."""
    return f"{NAME}={APP},{OWNER}={owner}"


def fence_of(obj: Object) -> int:
    """Fencing token in an object; 0 if it has none."""
    text = str(_notes(obj).get(FENCE, ""))
    return int(text) if text.isdecimal() else 0


def transitions_of(obj: Object) -> int:
    """Number of changes of the holder."""
    transitions = (obj.get("spec") or {}).get("leaseTransitions")
    return transitions if isinstance(transitions, int) else 0


def holder_of(obj: Object) -> str:
    return str((obj.get("spec") or {}).get("holderIdentity") or "somebody")


def is_past(obj: Object, now: float) -> bool:
    """Whether it has expired, in seconds since 1970; an object without a deadline has."""
    deadline = seconds_of(str(_notes(obj).get(DEADLINE, "")))
    return deadline is None or deadline < now


def due(
    holds: Mapping[str, SlotHold], written: Mapping[str, WrittenLease], now: float, most: int
) -> list[tuple[str, SlotHold | None]]:
    """Objects to write now, most urgent first: new leases, ended ones, changed ones, then the oldest.

    Args:
        holds: our leases by name of their object.
        written: objects as last written, by name.
        now: monotonic seconds.
        most: maximum number; the others follow later.

    Returns:
        (name, lease to write; None = remove the object).
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
