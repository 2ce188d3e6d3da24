from typing import Any

import pytest

from guest_server.protocol.errors import GuestError
from guest_server.protocol.input_events import Button, Click, Drag, Hotkey, Key, Move, Scroll, Type, points, read_events
from guest_server.protocol.limits import GuestLimits
from tests.error_codes import raises_fields

LIMITS = GuestLimits(events=5, text=10)


class TestReadEvents:
    @pytest.mark.parametrize(
        ("given", "events"),
        [
            ({"type": "move", "x": 1, "y": 2}, [Move(1, 2)]),
            ({"type": "move", "x": 1, "y": 2, "duration": 0.5}, [Move(1, 2, 0.5)]),
            ({"type": "click"}, [Click("left", 1)]),
            ({"type": "click", "x": 5, "y": 6, "button": "right", "num": 2}, [Move(5, 6), Click("right", 2)]),
            ({"type": "down", "button": "middle"}, [Button("middle", down=True)]),
            ({"type": "up"}, [Button("left", down=False)]),
            ({"type": "drag", "x": 9, "y": 8, "duration": 0}, [Drag(9, 8, "left", 0)]),
            ({"type": "scroll", "dy": -3}, [Scroll(0, -3)]),
            ({"type": "scroll", "dx": 2, "x": 1, "y": 1}, [Move(1, 1), Scroll(2, 0)]),
            ({"type": "type", "text": "a\r\nb\rc"}, [Type("a\nb\nc")]),
            ({"type": "key_down", "key": "Shift"}, [Key("shift", down=True)]),
            ({"type": "key_up", "key": "A"}, [Key("A", down=False)]),
            ({"type": "press", "key": "enter", "times": 3}, [Hotkey(("enter",), 3)]),
            ({"type": "hotkey", "keys": ["ctrl", "c"]}, [Hotkey(("ctrl", "c"))]),
        ],
    )
    def test_each_type_is_read(self, given: dict[str, Any], events: list[Any]) -> None:
        assert read_events([given], LIMITS) == events

    @pytest.mark.parametrize(
        ("given", "kind", "words"),
        [
            ({"type": "fly"}, "bad_request", "unknown type 'fly'"),
            ({"x": 1}, "bad_request", "'type' is missing"),
            ("click", "bad_request", "must be an object"),
            ({"type": "move", "x": 1}, "bad_request", "'y' is missing"),
            ({"type": "click", "x": 1}, "bad_request", "'y' is missing"),
            ({"type": "click", "button": "fourth"}, "bad_request", "unknown button"),
            ({"type": "click", "num": 11}, "bad_request", "from 1 to 10"),
            ({"type": "drag", "x": 1, "y": 1, "duration": 11}, "bad_request", "from 0 to 10"),
            ({"type": "scroll", "dy": 1.5}, "bad_request", "whole number"),
            ({"type": "type", "text": "\x07"}, "bad_request", "U+0007 cannot be typed"),
            ({"type": "type", "text": "\ud83d"}, "bad_request", "U+D83D cannot be typed"),
            ({"type": "type", "text": "x" * 11}, "too_large", "the limit is 10"),
            ({"type": "press", "key": "hyper"}, "unknown_key", "unknown key 'hyper'"),
            ({"type": "press", "key": "fn"}, "unknown_key", "does not exist"),
            ({"type": "hotkey", "keys": []}, "bad_request", "list of key names"),
        ],
    )
    def test_invalid_event_is_reported_with_its_number(self, given: Any, kind: str, words: str) -> None:
        with pytest.raises(GuestError) as caught:
            read_events([{"type": "click"}, given], LIMITS)
        assert caught.value.kind == kind
        assert caught.value.message.startswith("event 2: ")
        assert words in caught.value.message

    def test_too_many_are_refused(self) -> None:
        with raises_fields(GuestError, kind="too_large", mentions=("6", "5")):
            read_events([{"type": "click"}] * 6, LIMITS)

    def test_something_else_is_refused(self) -> None:
        with raises_fields(GuestError, kind="bad_request", mentions="'events'"):
            read_events(None, LIMITS)


class TestPoints:
    def test_moves_and_drags_have_points(self) -> None:
        assert points([Move(1, 2), Click(), Drag(3, 4)]) == [(1, 2), (3, 4)]
