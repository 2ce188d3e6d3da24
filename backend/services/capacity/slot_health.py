"""Slots of a cluster that cannot be used now, because the pod of each does not start."""

import datetime as dt
from collections.abc import Mapping

from sqlalchemy.orm import Session

from backend.db.models import Slot
from backend.db.models.enums import SlotState
from backend.db.repositories.capacity import workers
from backend.domain.ports.cluster import LONGEST_REST, SlotTrouble

PREFIX = "its pod does not start"
"""What the reasons begin with that are ours to take back."""
_MOST = dt.timedelta(seconds=LONGEST_REST + 60.0)
"""A rest that ends later was written by a wrong clock, and does not count; a minute is for clocks that differ."""
_UNTIL = "; it rests until "
"""Stands between the prefix and a moment, where only one worker knows of the trouble."""


def note_troubles(session: Session, cluster: str, provider: str, troubles: Mapping[str, SlotTrouble]) -> int:
    """Keeps slots in trouble from being leased, and lets those be leased whose trouble is over.

    What runs in a slot goes on. Any worker of the cluster may say so: all see the same pods. A trouble with an end is
    known to one worker alone: nobody takes it back before that moment, unless no rest lasts that long.

    Args:
        session: the transaction.
        cluster: whose slots.
        provider: of the slots.
        troubles: by a slot's id; slots that are not named have none that the caller knows of.

    Returns:
        How many were changed.
    """
    changed, now = 0, workers.now(session)
    for slot in workers.cluster_slots(session, cluster, provider):
        target = _next_state(slot, troubles.get(str(slot.id)), now)
        if target is not None and (slot.state, slot.reason) != target:
            slot.state, slot.reason = target
            changed += 1
    return changed


def _next_state(slot: Slot, trouble: SlotTrouble | None, now: dt.datetime) -> tuple[str, str] | None:
    """State and reason that a slot is to have; None = it stays as it is."""
    ours = slot.state == SlotState.BROKEN and slot.reason.startswith(PREFIX)
    if not ours and (trouble is None or slot.state != SlotState.FREE):
        return None
    rests = _end_of(slot.reason) if ours else None
    if rests is not None and rests - now > _MOST:
        rests = None
    if trouble is None:
        return None if rests is not None and rests > now else (SlotState.FREE.value, "")
    if trouble.until is None:
        return SlotState.BROKEN.value, f"{PREFIX}: {trouble.why}"
    if rests is not None and rests > trouble.until:
        return None
    return SlotState.BROKEN.value, f"{PREFIX}{_UNTIL}{trouble.until.isoformat(timespec='seconds')}: {trouble.why}"


def without_end(reason: str) -> str:
    """A slot's reason, without the moment until which it rests: so slots in the same trouble say the same."""
    if not reason.startswith(PREFIX + _UNTIL):
        return reason
    _, _, why = reason.removeprefix(PREFIX + _UNTIL).partition(": ")
    return f"{PREFIX}: {why}"


def _end_of(reason: str) -> dt.datetime | None:
    """When a rest ends, as its reason says; None where it is no rest."""
    text, _, _ = reason.removeprefix(PREFIX + _UNTIL).partition(": ")
    if not reason.startswith(PREFIX + _UNTIL):
        return None
    try:
        return dt.datetime.fromisoformat(text)
    except ValueError:
        return None
