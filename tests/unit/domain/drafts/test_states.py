from backend.domain.drafts.states import MOVES, REASON_WORDS, DraftState, RejectionReason, check_draft_move
from backend.domain.errors import IllegalMove
from tests.error_codes import raises_code


class TestMoves:
    def test_every_state_has_a_successor_and_review_is_required(self) -> None:
        assert set(MOVES) == set(DraftState)
        assert [state for state, to in MOVES.items() if DraftState.APPROVED in to] == [DraftState.IN_REVIEW]

    def test_illegal_move_is_refused(self) -> None:
        with raises_code(IllegalMove, "illegal_transition", mentions=("draft", "approved")):
            check_draft_move(DraftState.DRAFT, DraftState.APPROVED)


class TestReasons:
    def test_every_reason_has_its_words(self) -> None:
        assert set(REASON_WORDS) == set(RejectionReason)
