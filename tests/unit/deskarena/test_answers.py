import pytest

from backend.domain.actions.pyautogui import Pyautogui
from deskarena.answers import answer, ending


class TestAnswer:
    @pytest.mark.parametrize("name", ["WAIT", "DONE", "FAIL"])
    @pytest.mark.parametrize("space", ["computer_13", "pyautogui"])
    def test_words_of_the_loop_in_both_forms(self, name: str, space: str) -> None:
        assert answer(name, space) == answer({"action_type": name}, space) == {"actions": [{"type": name}]}

    def test_code(self) -> None:
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

    def test_anything_else_is_a_mistake(self) -> None:
        with pytest.raises(TypeError):
            answer(7, "pyautogui")


class TestEnding:
    def test_only_done_and_fail_end(self) -> None:
        found = [ending(one) for one in ("DONE\n", {"action_type": "FAIL"}, "WAIT", "pyautogui.press('a')", {"x": 1})]
        assert found == ["DONE", "FAIL", "", "", ""]
