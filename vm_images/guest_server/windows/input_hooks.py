"""Observes every key and button press on Windows by low-level hooks, before the target program gets it.

The hooks need a thread with a message loop. Events are passed to a second thread, because UI Automation cannot be used
inside a hook. The hook waits for it briefly, so that the control still exists.
"""

import ctypes
import threading
from collections.abc import Callable
from ctypes import wintypes
from queue import SimpleQueue
from typing import Any

from guest_server.windows.api import callback, user32
from guest_server.windows.com import join_com
from guest_server.windows.key_symbols import MODIFIER_KEYS, PACKET

_WH_KEYBOARD_LL, _WH_MOUSE_LL = 13, 14
_KEY_DOWN, _SYSTEM_KEY_DOWN = 0x0100, 0x0104
_BUTTONS = {0x0201: "left", 0x0204: "right", 0x0207: "middle"}
_HOLD_SECONDS = 0.25
"""Windows removes a hook that takes longer than a second, or than LowLevelHooksTimeout."""
_DOWN = 0x8000
_KEEP_STATE = 4  # ToUnicodeEx leaves dead keys as they are.
_START_SECONDS = 5.0

Job = Callable[[], None]


class _Keyboard(ctypes.Structure):
    _fields_ = (
        ("vkCode", wintypes.DWORD),
        ("scanCode", wintypes.DWORD),
        ("flags", wintypes.DWORD),
        ("time", wintypes.DWORD),
        ("dwExtraInfo", ctypes.c_size_t),
    )


class _Mouse(ctypes.Structure):
    _fields_ = (
        ("pt", wintypes.POINT),
        ("mouseData", wintypes.DWORD),
        ("flags", wintypes.DWORD),
        ("time", wintypes.DWORD),
        ("dwExtraInfo", ctypes.c_size_t),
    )


class Hooks:
    """Both hooks, from `start` to the end of the process."""

    def __init__(
        self, clicked: Callable[[str, int, int], None], typed: Callable[[int, str, frozenset[str]], None]
    ) -> None:
        """Does not install the hooks yet.

        Args:
            clicked: called for each button press: button, position.
            typed: called for each key press: virtual key, its text in the layout, modifiers.
        """
        self._clicked, self._typed = clicked, typed
        self._jobs: SimpleQueue[tuple[Job, threading.Event]] = SimpleQueue()
        self._ready = threading.Event()
        self._half = ""
        self._callbacks: list[Any] = []  # Keeps the callbacks alive: ctypes does not.

    def start(self) -> bool:
        """Returns True once both hooks are set."""
        threading.Thread(target=self._work, name="hooks-work", daemon=True).start()
        threading.Thread(target=self._listen, name="hooks", daemon=True).start()
        return self._ready.wait(_START_SECONDS)

    def run(self, job: Job, seconds: float) -> bool:
        """Runs a function in the working thread, after all earlier events; False on timeout."""
        done = threading.Event()
        self._jobs.put((job, done))
        return done.wait(seconds)

    def _work(self) -> None:
        join_com()
        while True:
            job, done = self._jobs.get()
            try:
                job()
            finally:
                done.set()

    def _listen(self) -> None:
        kind = callback(ctypes.c_ssize_t, ctypes.c_int, wintypes.WPARAM, wintypes.LPARAM)
        self._callbacks = [kind(self._on_mouse), kind(self._on_key)]
        hooks = [
            user32.SetWindowsHookExW(number, call, None, 0)
            for number, call in zip((_WH_MOUSE_LL, _WH_KEYBOARD_LL), self._callbacks, strict=True)
        ]
        if all(hooks):
            self._ready.set()
        message = wintypes.MSG()
        while user32.GetMessageW(ctypes.byref(message), None, 0, 0) > 0:
            pass

    def _on_mouse(self, code: int, message: int, data: int) -> int:
        if code == 0 and message in _BUTTONS:
            point = _Mouse.from_address(data).pt
            button, x, y = _BUTTONS[message], int(point.x), int(point.y)
            self.run(lambda: self._clicked(button, x, y), _HOLD_SECONDS)
        return int(user32.CallNextHookEx(None, code, message, data))

    def _on_key(self, code: int, message: int, data: int) -> int:
        if code == 0 and message in {_KEY_DOWN, _SYSTEM_KEY_DOWN}:
            info = _Keyboard.from_address(data)
            key, scan, modifiers = int(info.vkCode), int(info.scanCode), self._modifiers_down()
            text = self._character(scan) if key == PACKET else self._text(key, scan)
            self._jobs.put((lambda: self._typed(key, text, modifiers), threading.Event()))
        return int(user32.CallNextHookEx(None, code, message, data))

    def _character(self, unit: int) -> str:
        """Combines UTF-16 units: characters beyond the first 65,536 come as two."""
        both = self._half + chr(unit)
        if 0xD800 <= unit <= 0xDBFF:  # noqa: PLR2004 - first halves.
            self._half = chr(unit)
            return ""
        self._half = ""
        return both.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")

    def _modifiers_down(self) -> frozenset[str]:
        return frozenset(name for key, name in MODIFIER_KEYS.items() if user32.GetAsyncKeyState(key) & _DOWN)

    def _text(self, key: int, scan: int) -> str:
        """The text of a key in the active window's layout, with the modifiers held."""
        state = (ctypes.c_ubyte * 256)()
        for number in (*MODIFIER_KEYS, 0x14, 0x90):  # Caps Lock and Num Lock count if they are on.
            down = user32.GetAsyncKeyState(number) & _DOWN
            state[number] = (0x80 if down else 0) | (user32.GetKeyState(number) & 1)
        thread = user32.GetWindowThreadProcessId(user32.GetForegroundWindow(), None)
        layout = user32.GetKeyboardLayout(thread)
        buffer = ctypes.create_unicode_buffer(8)
        count = user32.ToUnicodeEx(key, scan, state, buffer, 8, _KEEP_STATE, layout)
        return buffer.value[:count] if count > 0 else ""
