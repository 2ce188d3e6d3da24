"""A small agent written against OSWorld's public interface only: `DesktopEnv`, its actions and its observation keys.

It plays a recipe of actions, as `pyautogui` text or as `computer_13` objects, and looks at each screenshot it gets.
"""

from collections.abc import Iterable, Mapping
from typing import Any


def as_computer_13(action: Mapping[str, Any]) -> Any:
    """A recorded action as an object of `computer_13`."""
    kind, point = action["type"], {"x": action["x"], "y": action["y"]}
    if kind in {"WAIT", "DONE", "FAIL"}:
        return kind
    fields: dict[str, dict[str, Any]] = {
        "CLICK": {"button": action["button"], "num_clicks": action["clicks"], **point},
        "MOVE_TO": point,
        "DRAG_TO": point,
        "SCROLL": {"dx": action["dx"], "dy": action["dy"]},
        "TYPING": {"text": action["text"]},
        "HOTKEY": {"keys": action["keys"]},
    }
    return {"action_type": kind, "parameters": fields.get(kind) or {"key": action["keys"][0]}}


def as_pyautogui(action: Mapping[str, Any]) -> str:
    """The same as code."""
    kind, x, y = action["type"], action["x"], action["y"]
    if kind in {"WAIT", "DONE", "FAIL"}:
        return str(kind)
    code = {
        "CLICK": f"pyautogui.click({x}, {y}, clicks={action['clicks']}, interval=0.05, button={action['button']!r})",
        "MOVE_TO": f"pyautogui.moveTo({x}, {y})",
        "DRAG_TO": f"pyautogui.dragTo({x}, {y}, duration=0.5, button='left')",
        "SCROLL": f"pyautogui.scroll({action['dy']})",
        "TYPING": f"pyautogui.typewrite({action['text']!r}, interval=0.02)",
        "PRESS": f"pyautogui.press({(action['keys'] or [''])[0]!r})",
        "HOTKEY": f"pyautogui.hotkey(*{list(action['keys'])!r})",
    }
    return f"import pyautogui\n{code[kind]}"


def play(env: Any, task: Mapping[str, Any], actions: Iterable[Any]) -> float:
    """One task from `reset` to `evaluate`, as OSWorld's own runner does it."""
    seen = env.reset(task_config=task)
    done = False
    for action in actions:
        assert seen["screenshot"].startswith(b"\x89PNG")
        assert seen["instruction"] == task["instruction"]
        seen, reward, done, info = env.step(action, 0.5)
        assert (reward, info.get("note", "")) == (0, ""), info
        if done:
            break
    assert done
    return float(env.evaluate())
