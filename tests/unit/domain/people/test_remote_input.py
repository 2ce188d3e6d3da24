from typing import Any

import pytest

from backend.domain.errors import Invalid
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import ActionType
from backend.domain.people.remote_input import in_words, read_hand
from tests.error_codes import raises_code

SCREEN = ScreenSize(width=640, height=480)


class TestReadHand:
    def test_a_drag_is_one_message(self) -> None:
        result = read_hand(
            [{"type": "MOVE_TO", "x": 1, "y": 2}, {"type": "DRAG_TO", "x": 3, "y": 4}], SCREEN, may_end=False
        )
        assert [one.type for one in result] == [ActionType.MOVE_TO, ActionType.DRAG_TO]
        assert in_words(result) == "move to and drag to"

    def test_the_agent_may_end_its_task(self) -> None:
        assert read_hand([{"type": "DONE"}], SCREEN, may_end=True)[0].type is ActionType.DONE

    @pytest.mark.parametrize(
        ("value", "words"),
        [
            (None, "1 to 2"),
            ([], "1 to 2"),
            ([{"type": "PRESS", "keys": ["a"]}] * 3, "1 to 2"),
            ([{"type": "PYTHON", "text": "import os"}], "nothing that a person may do"),
            ([{"type": "WAIT"}], "nothing that a person may do"),
            ([{"type": "DONE"}], "nothing that a person may do"),
            ([{"type": "CLICK", "x": 640, "y": 1}], "outside the screen"),
            ([{"type": "TYPING", "text": "x" * 10_001}], "longer than"),
            ([{"type": "SCROLL", "dy": 101}], "wheel clicks"),
            ([{"type": "HOTKEY", "keys": ["a"] * 6}], "5 keys"),
            ([{"type": "CLICK", "clicks": 9}], "must be at most 3"),
            (["CLICK"], "must be"),
        ],
    )
    def test_actions_impossible_by_hand_are_rejected(self, value: Any, words: str) -> None:
        with raises_code(Invalid, "invalid_input", mentions=words):
            read_hand(value, SCREEN, may_end=False)
