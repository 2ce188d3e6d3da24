"""Slots of a cluster that cannot be used now, because the pod of each does not start."""

from collections.abc import Mapping

from sqlalchemy.orm import Session

from backend.db.models.words import SlotState
from backend.db.repositories import workers

PREFIX = "its pod does not start"
"""What the reasons begin with that are ours to take back."""


def note_troubles(session: Session, cluster: str, provider: str, troubles: Mapping[str, str]) -> int:
    """Keeps slots in trouble from being leased, and lets those be leased whose trouble is over.

    What runs in a slot goes on. Any worker of the cluster may say so: all see the same pods.

    Args:
        session: the transaction.
        cluster: whose slots.
        provider: of the slots.
        troubles: by a slot's id: why, in words; slots that are not named have none.

    Returns:
        How many were changed.
    """
    changed = 0
    for slot in workers.cluster_slots(session, cluster, provider):
        why = troubles.get(str(slot.id))
        ours = slot.state == SlotState.BROKEN and slot.reason.startswith(PREFIX)
        if why is not None and (slot.state == SlotState.FREE or ours):
            wanted = SlotState.BROKEN.value, f"{PREFIX}: {why}"
        elif why is None and ours:
            wanted = SlotState.FREE.value, ""
        else:
            continue
        if (slot.state, slot.reason) != wanted:
            slot.state, slot.reason = wanted
            changed += 1
    return changed
