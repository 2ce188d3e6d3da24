"""Makes pyautogui type through the session, in the process of an agent's code.

pyautogui alone drops every character that the keyboard layout lacks, and on X11 mistakes the key of `<`. Here all of
Unicode arrives, as it does by `/input`. A key that does not exist, and a character that cannot be typed, is reported
on standard error; the code goes on, as with pyautogui alone.
"""
# ruff: noqa: SLF001 - pyautogui has no other place where a keyboard could be put.

import json
import os
import socket
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

NAME = "deskarena-keyboard"
"""The socket's name in `XDG_RUNTIME_DIR`."""
_AT_ONCE = 1000
_TYPED_CONTROLS = frozenset("\n\r\t\b")


PerformKey = Callable[[Mapping[str, str]], str]
"""Performs one keyboard event of `/input`; returns the kind of the error, empty without one."""


class SocketKeyboard:
    """The session's keyboard, through its socket (`socket_server`)."""

    def __init__(self, path: Path) -> None:
        """Connects. Raises OSError if this session has none."""
        self._path = path
        self._lock = threading.Lock()
        self._connect()

    def _connect(self) -> None:
        self._process = os.getpid()
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(self._path))
        self._lines = self._socket.makefile("rb")

    def __call__(self, event: Mapping[str, str]) -> str:
        with self._lock:
            if self._process != os.getpid():
                self._connect()  # A child must not share its parent's connection.
            self._socket.sendall(json.dumps([event]).encode() + b"\n")
            line = self._lines.readline()
        if not line:
            raise ConnectionError("the desktop's session has closed its keyboard")
        return str(json.loads(line).get("error", ""))


def session_keyboard() -> PerformKey:
    """The keyboard of this process's session. Raises OSError or ImportError if there is none."""
    if os.name == "nt":
        from guest_server.windows.input import perform_keyboard

        return perform_keyboard
    return SocketKeyboard(Path(os.environ.get("XDG_RUNTIME_DIR", "/nonexistent")) / NAME)


def install(pyautogui: Any, keyboard: PerformKey) -> None:
    """Replaces pyautogui's keyboard.

    Args:
        pyautogui: the imported module.
        keyboard: performs the events.
    """
    platform = pyautogui.platformModule
    platform.session_keyboard = keyboard
    platform._keyDown = _pressing(platform._keyDown, "key_down", keyboard)
    platform._keyUp = _pressing(platform._keyUp, "key_up", keyboard)
    pyautogui.typewrite = pyautogui.write = pyautogui._genericPyAutoGUIChecks(_typing(pyautogui, keyboard))
    pyautogui.hotkey = pyautogui.shortcut = _shortcuts(pyautogui.hotkey)


def types_unicode(pyautogui: Any) -> bool:
    """Whether `install` has replaced its keyboard."""
    return hasattr(pyautogui.platformModule, "session_keyboard")


def _pressing(own: Callable[[Any], None], kind: str, keyboard: PerformKey) -> Callable[[Any], None]:
    def press(key: Any) -> None:
        if not isinstance(key, str):
            own(key)  # The code of a key.
        elif keyboard({"type": kind, "key": key}) and kind == "key_down":
            _report(f"there is no key {key[:40]!r}; nothing was pressed")

    return press


def _shortcuts(own: Callable[..., None]) -> Callable[..., None]:
    def hotkey(*args: Any, keys: Any = (), **options: Any) -> None:
        """Also takes the keys as `keys=[...]`, as some models write them, and reports a shortcut without keys."""
        pressed = args or ((keys,) if isinstance(keys, str) else tuple(keys))
        if not pressed:
            _report("the shortcut has no keys; nothing was pressed")
        own(*pressed, **options)

    return hotkey


def _typing(pyautogui: Any, keyboard: PerformKey) -> Callable[..., None]:
    own = pyautogui.typewrite

    def typewrite(message: Any, interval: float = 0.0, logScreenshot: Any = None, _pause: bool = True) -> None:  # noqa: ARG001, FBT001, FBT002, N803 - pyautogui's signature.
        if not isinstance(message, str):
            own(message, interval, _pause=False)
            return
        text = "".join(char for char in message if _can_be_typed(char))
        if text != message:
            _report("the text has control characters; these were not typed")
        size = 1 if interval else _AT_ONCE
        for start in range(0, len(text), size):
            if keyboard({"type": "type", "text": text[start : start + size]}):
                _report(f"{text[start : start + size][:40]!r} could not be typed")
            time.sleep(float(interval))
            pyautogui.failSafeCheck()

    return typewrite


def _can_be_typed(char: str) -> bool:
    return char in _TYPED_CONTROLS or unicodedata.category(char) not in {"Cc", "Cs"}


def _report(problem: str) -> None:
    print(f"deskarena: {problem}", file=sys.stderr)
