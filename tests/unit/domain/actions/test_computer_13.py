import pytest

from backend.domain.actions.computer_13 import Computer13
from backend.domain.errors import Invalid
from backend.domain.model.trajectory import Action, ActionType


def parse(reply: str) -> tuple[Action, ...]:
    return Computer13().parse(reply)


class TestParse:
    @pytest.mark.parametrize(
        ("reply", "action"),
        [
            ('{"action_type": "CLICK", "x": 10, "y": 20}', Action(type=ActionType.CLICK, x=10, y=20)),
            (
                '{"action_type": "CLICK", "parameters": {"x": 10.4, "y": 20, "num_clicks": 3}}',
                Action(type=ActionType.CLICK, x=10, y=20, clicks=3),
            ),
            ('{"action_type": "CLICK"}', Action(type=ActionType.CLICK)),
            ('{"action_type": "RIGHT_CLICK", "x": 1, "y": 2}', Action(type=ActionType.CLICK, button="right", x=1, y=2)),
            ('{"action_type": "DOUBLE_CLICK", "x": 1, "y": 2}', Action(type=ActionType.CLICK, clicks=2, x=1, y=2)),
            ('{"action_type": "MOUSE_DOWN"}', Action(type=ActionType.MOUSE_DOWN)),
            ('{"action_type": "SCROLL", "dx": 0, "dy": -3}', Action(type=ActionType.SCROLL, dy=-3)),
            ('{"action_type": "TYPING", "text": "a<b"}', Action(type=ActionType.TYPING, text="a<b")),
            ('{"action_type": "PRESS", "key": "enter"}', Action(type=ActionType.PRESS, keys=("enter",))),
            ('{"action_type": "HOTKEY", "keys": ["ctrl", "s"]}', Action(type=ActionType.HOTKEY, keys=("ctrl", "s"))),
            ('{"action_type": "drag_to", "x": 1, "y": 2}', Action(type=ActionType.DRAG_TO, x=1, y=2)),
            ('{"action_type": "FAIL"}', Action(type=ActionType.FAIL)),
            (" WAIT\n", Action(type=ActionType.WAIT)),
            ('```json\n{"action_type": "DONE"}\n```', Action(type=ActionType.DONE)),
            ('I click.\n```\n{"action_type": "DONE"}\n```\n', Action(type=ActionType.DONE)),
        ],
    )
    def test_one_action(self, reply: str, action: Action) -> None:
        assert parse(reply) == (action,)

    def test_several_blocks_and_lists(self) -> None:
        reply = '```json\n[{"action_type": "WAIT"}, "WAIT"]\n```\nthen\n```json\n{"action_type": "DONE"}\n```'
        assert [action.type for action in parse(reply)] == [ActionType.WAIT, ActionType.WAIT, ActionType.DONE]

    @pytest.mark.parametrize(
        ("reply", "where"),
        [
            ("", ""),
            ("I do not know.", ""),
            ("[1]", ""),
            ('{"type": "CLICK"}', ""),
            ('{"action_type": "KLICK"}', "action_type"),
            ('{"action_type": "CLICK", "x": "left"}', "x"),
            ('{"action_type": "CLICK", "x": NaN, "y": 1}', "x"),
            ('{"action_type": "CLICK", "button": "third"}', "button"),
            ('{"action_type": "MOVE_TO", "x": 1}', "y"),
            ('{"action_type": "PRESS", "keys": ["a"]}', "key"),
            ('{"action_type": "HOTKEY", "keys": []}', "keys"),
            ('{"action_type": "TYPING", "text": ""}', "text"),
            ('{"action_type": "CLICK", "parameters": [1, 2]}', "parameters"),
            ("[" * 100_000, ""),
        ],
    )
    def test_invalid_actions_are_refused_with_their_path(self, reply: str, where: str) -> None:
        with pytest.raises(Invalid) as wrong:
            parse(reply)
        assert wrong.value.path == where
