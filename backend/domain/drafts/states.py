"""The states of a draft, its legal moves, and the reasons for rejection."""

from collections.abc import Mapping
from enum import StrEnum

from backend.domain.errors import IllegalMove

NEEDED = 2
"""Required approvals of the same version by people other than the author."""


class DraftState(StrEnum):
    """State of a draft. Any change of its content resets it to `draft`."""

    DRAFT = "draft"
    IN_REVIEW = "in_review"
    APPROVED = "approved"
    REJECTED = "rejected"


MOVES: Mapping[DraftState, frozenset[DraftState]] = {
    DraftState.DRAFT: frozenset({DraftState.IN_REVIEW}),
    DraftState.IN_REVIEW: frozenset({DraftState.DRAFT, DraftState.APPROVED, DraftState.REJECTED}),
    DraftState.APPROVED: frozenset({DraftState.DRAFT}),
    DraftState.REJECTED: frozenset({DraftState.DRAFT}),
}


class RejectionReason(StrEnum):
    """Why a draft is rejected. A closed set (protocols reference, section 7)."""

    AMBIGUOUS_INSTRUCTION = "ambiguous_instruction"
    SUBJECTIVE_CRITERION = "subjective_criterion"
    UNAVAILABLE = "unavailable"
    NEAR_DUPLICATE = "near_duplicate"


REASON_WORDS: Mapping[RejectionReason, str] = {
    RejectionReason.AMBIGUOUS_INSTRUCTION: "the instruction is ambiguous",
    RejectionReason.SUBJECTIVE_CRITERION: "the criterion is subjective",
    RejectionReason.UNAVAILABLE: "required software or service is unavailable",
    RejectionReason.NEAR_DUPLICATE: "near-duplicate of another task",
}


def check_draft_move(old: DraftState, new: DraftState) -> None:
    """Raises IllegalMove if a draft cannot go from `old` to `new`."""
    if new not in MOVES[old]:
        raise IllegalMove(f"a draft that is {old.replace('_', ' ')} cannot become {new.replace('_', ' ')}")
