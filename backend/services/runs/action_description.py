"""An agent's actions as text, and their positions on the screen."""

import re
from collections.abc import Mapping
from typing import Any

from backend.services.read_model import short

_OURS = re.compile(
    r"\Aimport pyautogui; import time; pyautogui\.FAILSAFE = False(?:; tag_\d{1,6} = \(-?\d+, -?\d+\))*\n"
)
"""Code that the action space and `DesktopEnv` put before the agent's."""


def action_words(action: Mapping[str, Any]) -> str:
    """One action on one line: `click 412, 88`, `type "hello"`, `press ctrl+s`."""
    kind = str(action.get("type", ""))
    at = _at(action)
    button = action.get("button", "left")
    if kind == "CLICK":
        times = {2: "double-", 3: "triple-"}.get(int(action.get("clicks", 1)), "")
        side = "" if button == "left" else f"{button} "
        return f"{side}{times}click{at}"
    if kind in {"TYPING", "PYTHON"}:
        text = str(action.get("text", ""))
        return f"type {short(text)!r}" if kind == "TYPING" else f"python {short(_OURS.sub('', text))!r}"
    if kind in {"SCRIPT", "READ_FILE", "WRITE_FILE"}:
        return _guest_words(kind, action)
    if kind in {"PRESS", "HOTKEY", "KEY_DOWN", "KEY_UP"}:
        verb = {"KEY_DOWN": "hold", "KEY_UP": "release"}.get(kind, "press")
        return f"{verb} {'+'.join(str(key) for key in action.get('keys', ()))}"
    if kind == "SCROLL":
        return f"scroll {_describe_scroll(action)}{at}"
    plain = {
        "MOVE_TO": "move to",
        "DRAG_TO": "drag to",
        "MOUSE_DOWN": "press button",
        "MOUSE_UP": "release button",
        "WAIT": "wait",
        "DONE": "answer DONE",
        "FAIL": "answer FAIL (infeasible)",
    }
    return f"{plain.get(kind, kind.lower())}{at}"


def _guest_words(kind: str, action: Mapping[str, Any]) -> str:
    call = action.get("guest") or {}
    if kind == "SCRIPT":
        return f"run {call.get('language', 'bash')} {short(str(action.get('text', '')))!r}"
    return f"{'read' if kind == 'READ_FILE' else 'write'} file {call.get('path', '')}"


def _at(action: Mapping[str, Any]) -> str:
    x, y = action.get("x"), action.get("y")
    return "" if x is None or y is None else f" {x}, {y}"


def _describe_scroll(action: Mapping[str, Any]) -> str:
    dx, dy = int(action.get("dx") or 0), int(action.get("dy") or 0)
    parts = [f"{'up' if dy > 0 else 'down'} {abs(dy)}"] if dy else []
    if dx:
        parts.append(f"{'right' if dx > 0 else 'left'} {abs(dx)}")
    return ", ".join(parts) or "0"


def pointer_path(actions: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Pointer path: one mark per action with a position, `{x, y, kind}`, in screen pixels."""
    return [
        {"x": action["x"], "y": action["y"], "kind": str(action.get("type", "")).lower()}
        for action in actions
        if action.get("x") is not None and action.get("y") is not None
    ]


def typed_captions(actions: list[Mapping[str, Any]]) -> list[str]:
    """Text, keys and scrolling of the actions, in order, as captions of the picture."""
    return [text for text in map(_describe_typed, actions) if text]


def _describe_typed(action: Mapping[str, Any]) -> str:
    kind = action.get("type")
    if kind == "TYPING":
        return short(str(action.get("text", "")))
    if kind in {"PRESS", "HOTKEY", "KEY_DOWN", "KEY_UP"}:
        return " + ".join(str(key) for key in action.get("keys", ()))
    return f"scroll {_describe_scroll(action)}" if kind == "SCROLL" else ""
