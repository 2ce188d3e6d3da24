"""OSWorld's actions as answers of the REST API."""

import json
from typing import Any

_BARE = frozenset({"WAIT", "DONE", "FAIL"})
_LONGEST_MESSAGE = 500
_TAKES = {
    True: 'WAIT, DONE, FAIL or an object such as {"action_type": "CLICK", "x": 1, "y": 2}',
    False: 'WAIT, DONE, FAIL or code, as a text or as {"command": code} (objects with an action_type are computer_13)',
}
"""The actions of a space, by whether it is computer_13."""
_PRELUDE = "import pyautogui; import time; pyautogui.FAILSAFE = False"


def ending(action: Any) -> str:
    """`DONE` or `FAIL` where the action is one of them, or code that ends in one; else empty."""
    code = _code(action)
    name = _bare(action) or (code.strip().rpartition("\n")[2].strip() if isinstance(code, str) else "")
    return name if name in {"DONE", "FAIL"} else ""


def answer(action: Any, action_space: str) -> dict[str, Any]:
    """The answer that an action of OSWorld's means.

    Args:
        action: `WAIT`, `DONE` or `FAIL`; a `computer_13` object; pyautogui code, as text or as `{"command": code}`.
        action_space: `computer_13`, or another one, whose actions are code.

    Raises:
        TypeError: the value is none of these.
    """
    name = _bare(action)
    if name:
        return {"actions": [{"type": name}]}
    if action_space == "computer_13":
        if isinstance(action, dict):
            return {"reply": json.dumps(action, default=_plain)}
        if isinstance(action, str):
            return {"reply": action}
    code = _code(action)
    fence = "`````" if isinstance(code, str) and "```" in code else "```"
    if isinstance(code, str) and fence not in code:
        return {"reply": f"{fence}python\n{code}\n{fence}"}
    if isinstance(code, str):
        return {"actions": [{"type": "PYTHON", "text": f"{_PRELUDE}\n{code}"}]}
    raise TypeError(f"step takes {_TAKES[action_space == 'computer_13']}, not {action!r}"[:_LONGEST_MESSAGE])


def _code(action: Any) -> Any:
    return action.get("command") if isinstance(action, dict) else action


def _plain(value: Any) -> Any:
    """A number of numpy, as agents compute coordinates, in a form that JSON has."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"step takes objects of JSON, and {value!r} has no form there"[:_LONGEST_MESSAGE])


def _bare(action: Any) -> str:
    value = action.get("action_type") if isinstance(action, dict) else action
    name = value.strip() if isinstance(value, str) else ""
    return name if name in _BARE else ""
