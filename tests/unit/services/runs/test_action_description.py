from collections.abc import Mapping
from typing import Any

import pytest

from backend.services.read_model import short
from backend.services.runs.action_description import action_words, pointer_path, typed_captions


class TestActionWords:
    @pytest.mark.parametrize(
        ("action", "words"),
        [
            ({"type": "CLICK", "x": 4, "y": 5}, "click 4, 5"),
            ({"type": "CLICK", "x": 4, "y": 5, "clicks": 2, "button": "right"}, "right double-click 4, 5"),
            ({"type": "CLICK", "x": None, "y": None}, "click"),
            ({"type": "TYPING", "text": "a <b>"}, "type 'a <b>'"),
            ({"type": "HOTKEY", "keys": ["ctrl", "s"]}, "press ctrl+s"),
            ({"type": "KEY_UP", "keys": ["shift"]}, "release shift"),
            ({"type": "SCROLL", "dx": 0, "dy": -3, "x": 1, "y": 2}, "scroll down 3 1, 2"),
            ({"type": "DRAG_TO", "x": 7, "y": 8}, "drag to 7, 8"),
            (
                {"type": "PYTHON", "text": "import pyautogui; import time; pyautogui.FAILSAFE = False\nf()"},
                "python 'f()'",
            ),
            (
                {
                    "type": "PYTHON",
                    "text": "import pyautogui; import time; pyautogui.FAILSAFE = False; tag_3 = (5, 6)\nf(tag_3)",
                },
                "python 'f(tag_3)'",
            ),
            ({"type": "FAIL"}, "answer FAIL (infeasible)"),
            ({"type": "SOMETHING_NEW"}, "something_new"),
        ],
    )
    def test_one_line_each(self, action: dict[str, Any], words: str) -> None:
        assert action_words(action) == words


class TestPointerPath:
    def test_only_what_has_a_place(self) -> None:
        actions: list[Mapping[str, Any]] = [
            {"type": "MOVE_TO", "x": 1, "y": 2},
            {"type": "TYPING", "text": "x"},
            {"type": "CLICK", "x": 0, "y": 0},
        ]
        assert pointer_path(actions) == [{"x": 1, "y": 2, "kind": "move_to"}, {"x": 0, "y": 0, "kind": "click"}]


class TestShort:
    def test_cuts_with_an_ellipsis(self) -> None:
        assert short("abcdef", 4) == "abc…"
        assert short("abcd", 4) == "abcd"


class TestTyped:
    def test_text_keys_and_turns_of_the_wheel(self) -> None:
        actions: list[Mapping[str, Any]] = [
            {"type": "CLICK", "x": 1, "y": 2},
            {"type": "TYPING", "text": "milk"},
            {"type": "HOTKEY", "keys": ["ctrl", "s"]},
            {"type": "SCROLL", "dy": -3},
            {"type": "TYPING", "text": "x" * 5_000},
        ]
        words = typed_captions(actions)
        assert words[:3] == ["milk", "ctrl + s", "scroll down 3"]
        assert len(words[3]) < 200
