"""Why no slot of a provider can be used."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from backend.domain.model.reason import Reason, ReasonCode

MOST_WORDS = 200
"""Of a reason: it may be a cluster's own words. Longer ones are cut with an ellipsis."""


@dataclass(frozen=True)
class ClosedSlots:
    """Slots that are there and cannot be used, for one reason.

    Attributes:
        number: of them.
        state: of their node where that is not `ready`, else their own. `free`: the workers that are online run no more
            desktops at once.
        reason: of the same; may be empty.
    """

    number: int
    state: str
    reason: str = ""


def closed_reason(provider: str, slots: Iterable[ClosedSlots], nodes: Sequence[str]) -> Reason:
    """The commonest reason.

    Args:
        provider: whose slots.
        slots: all that online workers could use if they were not closed.
        nodes: without any slot, the nodes' reasons for offering none; may be empty.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for slot in slots:
        counts[slot.state, slot.reason] += slot.number
    if not counts:
        cause = next(filter(None, nodes), "")
        text = f"no node offers {provider} slots" + (f" ({_shorten(cause)}); {_WHERE}" if cause else "")
        return Reason(ReasonCode.SLOTS_NOT_OFFERED, text)
    ((state, reason), number), *_ = counts.most_common(1)
    others = counts.total() - number
    suffix = f", {others} for other reasons" if others else ""
    text = f"no {provider} slot is usable: {number} {_words(state, reason)}{suffix}; {_WHERE}"
    return Reason(ReasonCode.SLOTS_UNUSABLE, text)


_WHERE = "see the workers page"


def _words(state: str, reason: str) -> str:
    if state == "free":
        return "beyond the parallel limit of the workers"
    condition = "broken" if state == "broken" else f"on a node that is {state}"
    return f"{condition} ({_shorten(reason)})" if reason else condition


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MOST_WORDS else f"{line[: MOST_WORDS - 1]}…"
