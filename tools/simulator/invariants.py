"""Invariants after every simulation. Each check returns descriptions of its violations."""

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise

from sqlalchemy import text
from sqlalchemy.orm import Session

from tools.simulator.journal import SlotUse

_CHECKS = {
    "an episode has not ended": "SELECT id FROM episode WHERE state IN ('waiting', 'running')",
    "an episode did not end as its attempts say": """
        SELECT e.id FROM episode e LEFT JOIN attempt a ON a.episode_id = e.id GROUP BY e.id
        HAVING count(*) FILTER (WHERE a.state = 'scored') <> (CASE WHEN e.state = 'scored' THEN 1 ELSE 0 END)
            OR count(a.id) <> e.attempt_count
    """,
    "a scored attempt has not one current evaluation": """
        SELECT a.id FROM attempt a LEFT JOIN evaluation v ON v.attempt_id = a.id AND v.current
        WHERE a.state = 'scored' GROUP BY a.id HAVING count(v.id) <> 1
    """,
    "an attempt is still live": "SELECT id FROM attempt WHERE live",
    "two attempts have the same lease and number of fence, and were live at once": """
        SELECT a.id FROM attempt a JOIN attempt b ON b.lease_id = a.lease_id AND b.id > a.id
        WHERE b.started_at < a.ended_at
    """,
    "events of a run have a gap": """
        SELECT run_id FROM event GROUP BY run_id HAVING max(seq) <> count(*) OR min(seq) <> 1
    """,
    "a run is not completed": "SELECT id FROM run WHERE state <> 'completed'",
}


def violations(session: Session) -> list[str]:
    """Violations in the database after all episodes should have ended."""
    return [f"{words}: {row[0]}" for words, query in _CHECKS.items() for row in session.execute(text(query))]


def double_leases(holds: Iterable[SlotUse]) -> list[str]:
    """Slots leased while another episode still used them, as seen by the live workers."""
    by_slot: dict[tuple[str, int], list[SlotUse]] = defaultdict(list)
    for hold in sorted(holds, key=lambda hold: hold.leased_at):
        by_slot[hold.slot].append(hold)
    return [
        f"{slot}: {earlier.episode_id} until {earlier.ended_at}, {later.episode_id} from {later.leased_at}"
        for slot, slot_holds in by_slot.items()
        for earlier, later in pairwise(slot_holds)
        if not earlier.is_lost and earlier.ended_at is not None and earlier.ended_at > later.leased_at
    ]
