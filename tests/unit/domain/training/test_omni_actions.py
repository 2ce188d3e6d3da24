import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.actions.omni import OmniActions
from backend.domain.model.trajectory import Action, ActionType
from backend.domain.training._omni_actions import call, keys_of, rows
from tests.factories.recorded import TREE, click, mark, step


def key_actions(keys: str | None) -> list[Action]:
    """The action space's reading of them."""
    reply = {"Status": "CONTINUE", "ControlLabel": "", "Function": "keyboard_input", "Args": {"keys": keys}}
    return list(OmniActions().parse(json.dumps(reply)))


def typing(text: str) -> Action:
    return Action(type=ActionType.TYPING, text=text)


class TestCall:
    @pytest.mark.parametrize(
        ("action", "function", "args"),
        [
            (click(), "click_input", {"button": "left", "double": False}),
            (click(button="right", clicks=2), "click_input", {"button": "right", "double": True}),
            (Action(type=ActionType.SCROLL, dy=-3), "wheel_mouse_input", {"wheel_dist": -3}),
            (typing("a+b"), "keyboard_input", {"keys": "a{+}b"}),
            (Action(type=ActionType.HOTKEY, keys=("ctrl", "shift", "s")), "keyboard_input", {"keys": "^+s"}),
            (Action(type=ActionType.PRESS, keys=("enter",)), "keyboard_input", {"keys": "{ENTER}"}),
            (Action(type=ActionType.DRAG_TO, x=1, y=2), "drag_to", {"x": 1, "y": 2}),
            (Action(type=ActionType.HOTKEY, keys=("win", "d")), "hotkey", {"keys": ["win", "d"]}),
            (Action(type=ActionType.SCROLL, dx=2), "scroll", {"dx": 2}),
        ],
    )
    def test_actions_become_their_function_calls(self, action: Action, function: str, args: dict[str, object]) -> None:
        assert call(action) == (function, args)


class TestKeysOf:
    @given(st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=50))
    def test_typed_text_is_read_back(self, text: str) -> None:
        assert key_actions(keys_of(typing(text))) == [typing(text)]

    @pytest.mark.parametrize("keys", [("enter",), ("f4",), ("a",), ("%",)])
    def test_keys_are_read_back(self, keys: tuple[str, ...]) -> None:
        (result,) = key_actions(keys_of(Action(type=ActionType.PRESS, keys=keys)))
        assert result.keys == keys or result.text == keys[0]

    def test_a_hotkey_is_read_back(self) -> None:
        action = Action(type=ActionType.HOTKEY, keys=("alt", "f4"))
        assert key_actions(keys_of(action)) == [action]


class TestRows:
    def test_the_control_of_the_tree_under_the_point(self) -> None:
        (row,) = rows(step(0, click(), explanation="I save.", tree=lambda: TREE))
        assert (row["rect"], row["control_text"]) == ([10, 10, 30, 20], "Save")
        assert (row["thought"], row["description"]) == ("I save.", "click on 'Save'")

    def test_marks_go_before_the_tree(self) -> None:
        (row,) = rows(step(0, click(), marks=(mark(name="Store"),), tree=lambda: TREE))
        assert row["control_text"] == "Store"

    def test_nothing_under_the_point(self) -> None:
        (row,) = rows(step(0, click(500, 500), tree=lambda: TREE))
        assert (row["rect"], row["control_text"]) == (None, "")

    @pytest.mark.parametrize("xml", ["", "<a", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'])
    def test_a_damaged_tree_has_no_controls(self, xml: str) -> None:
        (row,) = rows(step(0, click(), tree=lambda: xml))
        assert row["rect"] is None

    def test_the_end_is_no_action(self) -> None:
        assert list(rows(step(0, Action(type=ActionType.DONE)))) == []
