from typing import Any

import numpy as np
import pytest

from backend.domain.actions.pyautogui import Pyautogui
from deskarena.answers import answer, ending


class TestAnswer:
    @pytest.mark.parametrize("name", ["WAIT", "DONE", "FAIL"])
    @pytest.mark.parametrize("space", ["computer_13", "pyautogui"])
    def test_words_of_the_loop_in_both_forms(self, name: str, space: str) -> None:
        assert answer(name, space) == answer({"action_type": name}, space) == {"actions": [{"type": name}]}

    def test_code_becomes_a_python_reply(self) -> None:
        code = "pyautogui.click(1, 2)"
        assert answer(code, "pyautogui") == answer({"command": code}, "claude_computer_use")
        assert answer(code, "pyautogui") == {"reply": "```python\npyautogui.click(1, 2)\n```"}

    def test_code_that_would_end_its_own_block(self) -> None:
        assert answer("x = '```'", "pyautogui") == {"reply": "`````python\nx = '```'\n`````"}
        ((action,),) = answer("x = '`````'", "pyautogui").values()
        first, code = action["text"].splitlines()
        assert (action["type"], code) == ("PYTHON", "x = '`````'")
        assert "pyautogui.FAILSAFE = False" in first

    def test_code_with_a_fence_is_read_by_the_service(self) -> None:
        reply = answer("pyautogui.write('```')\nDONE", "pyautogui")["reply"]
        assert [action.type for action in Pyautogui(None).parse(reply)] == ["TYPING", "DONE"]

    def test_an_object_is_read_by_the_service(self) -> None:
        assert answer({"action_type": "CLICK", "x": 1}, "computer_13") == {"reply": '{"action_type": "CLICK", "x": 1}'}

    def test_numbers_of_numpy_are_numbers(self) -> None:
        action = {"action_type": "CLICK", "x": np.int64(3), "y": np.float32(4.5)}
        assert answer(action, "computer_13") == {"reply": '{"action_type": "CLICK", "x": 3, "y": 4.5}'}

    @pytest.mark.parametrize(
        "action", [None, 7, [], ["DONE"], {}, {"command": None}, {"action_type": "CLICK"}, b"WAIT"]
    )
    def test_anything_else_is_a_mistake(self, action: Any) -> None:
        with pytest.raises(TypeError, match="step takes WAIT, DONE, FAIL or code"):
            answer(action, "pyautogui")

    @pytest.mark.parametrize(
        ("action", "message"), [([{"action_type": "WAIT"}], "an object such as"), ({"x": {1}}, "no form there")]
    )
    def test_other_values_of_computer_13_are_mistakes(self, action: Any, message: str) -> None:
        with pytest.raises(TypeError, match=message):
            answer(action, "computer_13")


class TestEnding:
    def test_only_done_and_fail_end(self) -> None:
        found = [ending(one) for one in ("DONE\n", {"action_type": "FAIL"}, "WAIT", "pyautogui.press('a')", {"x": 1})]
        assert found == ["DONE", "FAIL", "", "", ""]

    def test_code_that_ends_in_one_ends(self) -> None:
        code = "pyautogui.press('a')\nDONE"
        found = [ending(one) for one in (code, {"command": code}, {"command": "FAIL"}, "DONE\npass", "print('DONE')")]
        assert found == ["DONE", "DONE", "FAIL", "", ""]
