"""OSWorld's actions as answers of the REST API."""

import json
from typing import Any

_BARE = frozenset({"WAIT", "DONE", "FAIL"})
_PRELUDE = "import pyautogui; import time; pyautogui.FAILSAFE = False"


def ending(action: Any) -> str:
    """`DONE` or `FAIL` where the action is one of them, else empty."""
    name = _bare(action)
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
            return {"reply": json.dumps(action)}
        if isinstance(action, str):
            return {"reply": action}
    code = action.get("command") if isinstance(action, dict) else action
    fence = "`````" if isinstance(code, str) and "```" in code else "```"
    if isinstance(code, str) and fence not in code:
        return {"reply": f"{fence}python\n{code}\n{fence}"}
    if isinstance(code, str):
        return {"actions": [{"type": "PYTHON", "text": f"{_PRELUDE}\n{code}"}]}
    raise TypeError(f"expected an action of {action_space}, got {type(action).__name__}")


def _bare(action: Any) -> str:
    value = action.get("action_type") if isinstance(action, dict) else action
    name = value.strip() if isinstance(value, str) else ""
    return name if name in _BARE else ""
