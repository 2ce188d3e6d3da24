from typing import Any

import pytest

from backend.domain.errors import GuestRefused
from backend.domain.model.trajectory import GUEST_CALLS, Action, ActionType
from tests.error_codes import raises_code
from worker.desktops.events import input_event

A = ActionType


class TestInputEvent:
    @pytest.mark.parametrize(
        ("action", "event"),
        [
            (Action(type=A.MOVE_TO, x=1, y=2), {"type": "move", "x": 1, "y": 2}),
            (Action(type=A.CLICK), {"type": "click", "button": "left", "num": 1}),
            (
                Action(type=A.CLICK, x=0, y=0, button="right", clicks=2),
                {"type": "click", "button": "right", "num": 2, "x": 0, "y": 0},
            ),
            (Action(type=A.MOUSE_DOWN, button="middle"), {"type": "down", "button": "middle"}),
            (Action(type=A.MOUSE_UP), {"type": "up", "button": "left"}),
            (Action(type=A.DRAG_TO, x=5, y=6), {"type": "drag", "button": "left", "x": 5, "y": 6}),
            (Action(type=A.SCROLL, dx=1, dy=-2), {"type": "scroll", "dx": 1, "dy": -2}),
            (Action(type=A.TYPING, text="<é"), {"type": "type", "text": "<é"}),
            (Action(type=A.PRESS, keys=("enter",)), {"type": "press", "key": "enter"}),
            (Action(type=A.KEY_DOWN, keys=("shift",)), {"type": "key_down", "key": "shift"}),
            (Action(type=A.KEY_UP, keys=("shift",)), {"type": "key_up", "key": "shift"}),
            (Action(type=A.HOTKEY, keys=("ctrl", "c")), {"type": "hotkey", "keys": ["ctrl", "c"]}),
        ],
    )
    def test_every_action_becomes_its_input_event(self, action: Action, event: dict[str, Any]) -> None:
        assert input_event(action) == event

    @pytest.mark.parametrize("kind", [A.WAIT, A.DONE, A.FAIL, A.PYTHON, *sorted(GUEST_CALLS)])
    def test_invalid_input_events_are_refused(self, kind: ActionType) -> None:
        with raises_code(GuestRefused, "guest_refused"):
            input_event(Action(type=kind))

    @pytest.mark.parametrize("keys", [(), ("a", "b")])
    def test_a_press_is_of_one_key(self, keys: tuple[str, ...]) -> None:
        with raises_code(GuestRefused, "guest_refused"):
            input_event(Action(type=A.PRESS, keys=keys))

    def test_every_action_of_the_domain_is_decided(self) -> None:
        """A new action type must become an event or be left to another route here."""
        for kind in ActionType:
            action = Action(type=kind, x=1, y=1, text="x", keys=("a",))
            if kind not in {A.WAIT, A.DONE, A.FAIL, A.PYTHON} | GUEST_CALLS:
                assert input_event(action)["type"]
