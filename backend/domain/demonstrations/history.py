"""Recorded actions as an agent would have written them: its history when it is asked at a later step."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.model.trajectory import Action, ActionType
from backend.domain.ports.agent import CoordinateFrame

_BUTTONS = {"right": "rightClick", "middle": "middleClick"}
_CLICKS = {2: "doubleClick", 3: "tripleClick"}


def reply_of(
    actions: Sequence[Action], message: str, space: str, options: Mapping[str, Any], sight: CoordinateFrame
) -> str:
    """The text of a reply with these actions.

    Args:
        actions: recorded, in pixels of the screen.
        message: said beside them; may be empty.
        space: registered name of the agent's action space. `pyautogui` and `computer_13` get their own form,
            any other one gets plain words.
        options: of the space; its `coordinates` count.
        sight: what the coordinates refer to.
    """
    placed = [_fields_of_action(action, str(options.get("coordinates", "screen")), sight) for action in actions]
    if space == "pyautogui":
        lines = "\n".join(map(_call, placed))
        text = f"```python\n{lines}\n```"
    elif space == "computer_13":
        text = "\n".join(f"```json\n{json.dumps(_object(call), ensure_ascii=False)}\n```" for call in placed)
    else:
        text = "I did: " + "; ".join(_words(action) for action in actions)
    return f"{message}\n{text}".strip()


def _fields_of_action(action: Action, coordinates: str, sight: CoordinateFrame) -> dict[str, Any]:
    """The action's fields, its point as the agent writes it."""
    fields = action.model_dump()
    if action.x is None or action.y is None:
        return fields
    if coordinates == "unit":
        return fields | {"x": round(action.x / sight.screen.width, 4), "y": round(action.y / sight.screen.height, 4)}
    if coordinates == "picture" and sight.view is not None:
        x, y = sight.view.from_screen(action.x, action.y)
        return fields | {"x": round(x), "y": round(y)}
    return fields


_POINTING = {
    ActionType.MOVE_TO: "moveTo",
    ActionType.DRAG_TO: "dragTo",
    ActionType.MOUSE_DOWN: "mouseDown",
    ActionType.MOUSE_UP: "mouseUp",
}
_KEYS = {
    ActionType.PRESS: "press",
    ActionType.HOTKEY: "hotkey",
    ActionType.KEY_DOWN: "keyDown",
    ActionType.KEY_UP: "keyUp",
}


def _call(call: Mapping[str, Any]) -> str:
    """As code with pyautogui; WAIT, DONE and FAIL are words there."""
    kind = call["type"]
    point = f"{call['x']}, {call['y']}" if call["x"] is not None else ""
    code = {
        ActionType.SCROLL: f"pyautogui.hscroll({call['dx']})" if call["dx"] else f"pyautogui.scroll({call['dy']})",
        ActionType.TYPING: f"pyautogui.write({call['text']!r})",
        ActionType.PYTHON: str(call["text"]),
        ActionType.CLICK: f"pyautogui.{_CLICKS.get(call['clicks']) or _BUTTONS.get(call['button'], 'click')}({point})",
    }
    if kind in _KEYS:
        return f"pyautogui.{_KEYS[kind]}({', '.join(map(json.dumps, call['keys']))})"
    return f"pyautogui.{_POINTING[kind]}({point})" if kind in _POINTING else code.get(kind, str(kind))


def _object(call: Mapping[str, Any]) -> dict[str, Any]:
    """As OSWorld's `computer_13` has it."""
    parts: dict[str, Any] = {"action_type": str(call["type"])}
    if call["x"] is not None:
        parts |= {"x": call["x"], "y": call["y"]}
    match call["type"]:
        case ActionType.CLICK:
            return parts | {"button": call["button"], "num_clicks": call["clicks"]}
        case ActionType.SCROLL:
            return {"action_type": "SCROLL", "dx": call["dx"], "dy": call["dy"]}
        case ActionType.TYPING:
            return parts | {"text": call["text"]}
        case ActionType.HOTKEY:
            return parts | {"keys": list(call["keys"])}
        case ActionType.PRESS | ActionType.KEY_DOWN | ActionType.KEY_UP:
            return parts | {"key": call["keys"][0] if call["keys"] else ""}
        case _:
            return parts


def _words(action: Action) -> str:
    where = f" at ({action.x}, {action.y})" if action.x is not None else ""
    argument = action.text or "+".join(action.keys)
    if action.type is ActionType.SCROLL:
        argument = f"{action.dx}, {action.dy}"
    return f"{action.type}{where}{f': {argument}' if argument else ''}"
