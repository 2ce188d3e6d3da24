"""Unusable slots of a cluster, because their pods do not start."""

import datetime as dt
from collections.abc import Mapping

from sqlalchemy.orm import Session

from backend.db.models import Slot
from backend.db.models.enums import SlotState
from backend.db.repositories.capacity import workers
from backend.domain.ports.cluster import LONGEST_REST, SlotTrouble

PREFIX = "its pod does not start"
"""Prefix of reasons that this module may clear."""
_MOST = dt.timedelta(seconds=LONGEST_REST + 60.0)
"""A later end was written by a wrong clock and is ignored; a minute allows for clock differences."""
_UNTIL = "; it rests until "
"""Separates prefix and time, if only one worker knows of the problem."""


def note_troubles(session: Session, cluster: str, provider: str, troubles: Mapping[str, SlotTrouble]) -> int:
    """Closes slots with problems, and reopens those whose problem is over.

    Running attempts continue. Any worker of the cluster may report: all see the same pods. A problem with an end is
    known to one worker only: nobody clears it before that time, unless it is implausibly late.

    Args:
        session: the transaction.
        cluster: of the slots.
        provider: of the slots.
        troubles: by slot id; other slots have no problem known to the caller.

    Returns:
        Number of changed slots.
    """
    changed, now = 0, workers.now(session)
    for slot in workers.cluster_slots(session, cluster, provider):
        target = _next_state(slot, troubles.get(str(slot.id)), now)
        if target is not None and (slot.state, slot.reason) != target:
            slot.state, slot.reason = target
            changed += 1
    return changed


def _next_state(slot: Slot, trouble: SlotTrouble | None, now: dt.datetime) -> tuple[str, str] | None:
    """New state and reason of a slot; None = unchanged."""
    is_own_report = slot.state == SlotState.BROKEN and slot.reason.startswith(PREFIX)
    if not is_own_report and (trouble is None or slot.state != SlotState.FREE):
        return None
    rests = _end_of(slot.reason) if is_own_report else None
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
    """A slot's reason without its end, so that slots with the same problem have equal reasons."""
    if not reason.startswith(PREFIX + _UNTIL):
        return reason
    _, _, cause = reason.removeprefix(PREFIX + _UNTIL).partition(": ")
    return f"{PREFIX}: {cause}"


def _end_of(reason: str) -> dt.datetime | None:
    """End of a pause, from its reason; None if it is not a pause."""
    text, _, _ = reason.removeprefix(PREFIX + _UNTIL).partition(": ")
    if not reason.startswith(PREFIX + _UNTIL):
        return None
    try:
        return dt.datetime.fromisoformat(text)
    except ValueError:
        return None
